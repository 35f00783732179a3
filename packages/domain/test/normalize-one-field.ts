import { normalizeOrder, type Order } from '../src/index.ts';

/** Normalizes a payload of a few fields: the order, and its warnings as "/pointer code". */
export function normalize(fields: Record<string, unknown>): { order: Order; warned: string[] } {
  const { order, warnings } = normalizeOrder({ source_order_id: 'test-1', ...fields });
  return { order, warned: warnings.map(({ pointer, code }) => `${pointer} ${code}`) };
}
