import type { OrderJson } from '@orders/database/orders/order-rows.ts';
import type { Order } from '@orders/domain/order.ts';
import type { FieldError } from '@orders/domain/problems.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import type { Review } from './list-orders.ts';
import { type Cell, details, table } from './table.ts';

/** Orders as a table. */
export function tabulateOrders(orders: readonly OrderJson[]): string {
  return table(orders, [
    { head: 'ORDER', cell: (order) => order.order_id, right: true },
    { head: 'ACCOUNT', cell: (order) => order.account_id, right: true },
    { head: 'STATE', cell: (order) => order.review_state },
    { head: 'SOURCE ORDER', cell: (order) => order.source_order_id, shrinks: true },
    { head: 'CUSTOMER', cell: (order) => order.customer.name, shrinks: true },
    { head: 'EMIRATE', cell: (order) => order.emirate, shrinks: true },
    { head: 'TOTAL', cell: amountOf, right: true, shrinks: true },
    { head: 'WRITTEN', cell: (order) => order.written_at },
  ]);
}

/** One order as text. */
export function describeOrder(order: OrderJson, { reviewed_by, reviewed_at, review_reason }: Review): string {
  return details([
    ['order', order.order_id],
    ['state', order.review_state],
    ['reviewed', reviewed_by && `by ${reviewed_by}, ${reviewed_at?.toISOString()}`],
    ['reason', review_reason],
    ['account', order.account_id],
    ['source order', order.source_order_id],
    ['order number', order.order_number],
    ['channel', order.channel],
    ['receipt', order.receipt_id],
    ...orderEntries(order),
    ['received', order.received_at],
    ['written', order.written_at],
    ['warnings', warningLines(order.warnings)],
  ]);
}

/** The content of an order as entries for `details`. */
export function orderEntries(order: Omit<Order, 'source_order_id' | 'order_number'>): [string, Cell][] {
  const { customer, emirate_code } = order;
  return [
    ['customer', customer.name],
    ['phone', customer.phone],
    ['e-mail', customer.email],
    ['customer id', customer.id],
    ['address', order.address],
    ['area', order.area],
    ['emirate', emirate_code ? `${order.emirate} (${emirate_code})` : order.emirate],
    ['items', order.items.map(itemLine).join('\n') || null],
    ['total', amountOf(order)],
    ...TEXT_FIELD_NAMES.map((name): [string, Cell] => [name.replaceAll('_', ' '), order[name]]),
  ];
}

/** Warnings or errors of an order, one line each; undefined if there are none. */
export function warningLines(warnings: readonly FieldError[]): string | undefined {
  return warnings.map(({ pointer, code, detail }) => `${pointer || '/'} ${code}: ${detail}`).join('\n') || undefined;
}

function amountOf({ total, currency }: Pick<Order, 'total' | 'currency'>): string | null {
  return total === null ? null : `${total} ${currency}`;
}

function itemLine({ quantity, name, sku }: Order['items'][number]): string {
  return `${quantity ?? '?'} × ${name ?? '?'}${sku === null ? '' : ` (${sku})`}`;
}
