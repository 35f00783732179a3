import type { NormalizedOrder } from './order.ts';
export function normalizeOrder(payload: Record<string, unknown>): NormalizedOrder {
  throw new Error(String(payload));
}
