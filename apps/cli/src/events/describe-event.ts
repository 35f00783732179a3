import type { OrdersEvent } from '@orders/client';
import { plural } from '../count.ts';
import { escapeControlsInLine } from '../sanitize.ts';

/** The width of the longest type that this version knows. */
const TYPE_WIDTH = 'order.cancel_requested'.length;

/** An event as one line, with what its type adds at the end. */
export function describeEvent({ type, timestamp, data }: OrdersEvent): string {
  const { sequence, source_order_id, order_id, receipt_id, warnings, duplicate_of, changed, error, reason } = data;
  const parts = [
    `${sequence}`,
    timestamp.replace('T', ' ').replace(/\.\d+/, ''),
    type.padEnd(TYPE_WIDTH),
    source_order_id || '-',
    order_id === null ? `receipt ${receipt_id}` : `order ${order_id}`,
    ...(warnings?.length ? [plural(warnings.length, 'warning')] : []),
    ...(duplicate_of ? [`of ${duplicate_of}`] : []),
    ...(changed?.length ? [`changed ${changed.join(', ')}`] : []),
    ...(error ? [error] : []),
    ...(reason ? [`"${reason}"`] : []),
  ];
  return escapeControlsInLine(parts.join('  '));
}
