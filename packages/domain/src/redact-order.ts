import { DEFAULT_CURRENCY } from './normalize/money/read-money.ts';
import type { Order } from './order.ts';
import { ofTextFields } from './text-fields.ts';

/**
 * Removes the customer's data from an order: items, total and emirate stay. The only free texts that stay are order numbers, currency, skus
 * and item names, unless they mention the customer.
 *
 * @param isMentioned whether a string contains data that identifies the customer.
 */
export function redactOrder(order: Order, isMentioned: (text: string) => boolean): Order {
  const kept = (text: string | null) => (text !== null && isMentioned(text) ? null : text);
  const { source_order_id, emirate_code } = order;
  return {
    source_order_id,
    order_number: kept(order.order_number) ?? source_order_id,
    customer: { name: null, phone: null, email: null, id: null },
    address: null,
    emirate: emirate_code === null ? null : order.emirate,
    emirate_code,
    // May contain an address that was sent as the emirate.
    area: null,
    items: order.items.map(({ name, quantity, sku }) => ({ name: kept(name), quantity, sku: kept(sku) })),
    total: order.total,
    currency: kept(order.currency) ?? DEFAULT_CURRENCY,
    ...ofTextFields(() => null),
  };
}

/** A body that normalizes to the redacted order. */
export function redactedBody(redacted: Order): Buffer {
  const { source_order_id, order_number, emirate, items, total, currency } = redacted;
  return Buffer.from(JSON.stringify({ source_order_id, order_number, emirate, items, total, currency }));
}
