import type { CallOptions } from './options.ts';
import type { Cancellation, CancellationList } from './types.ts';

/** The options of calls that cancel orders. */
export interface CancelOptions extends CallOptions {
  /** `webhook` signs the request, as `sendWebhook` does (default `rest`). */
  via?: 'rest' | 'webhook' | undefined;
  /** For webhooks, replaces the client's secret. */
  signingSecret?: string | undefined;
}

/** The body for one cancellation. */
export function cancellationOf(sourceOrderId: string, reason: string | null | undefined): Cancellation {
  return { source_order_id: sourceOrderId, ...(reason != null && { reason }) };
}

/** The body for a list; a string is the id of an order. */
export function cancellationsOf(orders: readonly (string | Cancellation)[]): CancellationList {
  if (!Array.isArray(orders)) throw new TypeError('orders must be a list of ids or cancellations.');
  return { cancellations: orders.map((order) => (typeof order === 'string' ? cancellationOf(order, null) : order)) };
}
