import { DEFAULT_CURRENCY } from './normalize/money/read-money.ts';
import type { Order } from './order.ts';

/**
 * What is left of an order whose customer is erased: what was sold, for how much, to which emirate. Of texts that a sender writes freely
 * only numbers of the order and names of items stay, and those not where the customer is mentioned in them.
 *
 * @param isMentioned whether such a text holds what the customer is known by.
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
    // An address that was sent as the emirate goes there.
    area: null,
    items: order.items.map(({ name, quantity, sku }) => ({ name: kept(name), quantity, sku: kept(sku) })),
    total: order.total,
    currency: kept(order.currency) ?? DEFAULT_CURRENCY,
    delivery_instructions: null,
  };
}

/** A body of the same order: normalized, it is that order again. */
export function redactedBody(redacted: Order): Buffer {
  const { source_order_id, order_number, emirate, items, total, currency } = redacted;
  return Buffer.from(JSON.stringify({ source_order_id, order_number, emirate, items, total, currency }));
}
