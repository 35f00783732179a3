import { isUtf8 } from 'node:buffer';
import { Problem } from '@orders/domain/problems.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';
import { type Location, type ReadOrder, unsendable } from '@orders/order-files/read-order.ts';

/** Creates an order from the bytes of its JSON, which the service validates. */
export function sourceOrder(bytes: Buffer, location: Location): ReadOrder {
  // Decoding would replace invalid bytes, so two different ids could become equal.
  if (!isUtf8(bytes)) return unsendable(location, 'The order is not UTF-8.');
  const text = bytes.toString('utf8');
  return { ...location, text, sourceOrderId: sourceOrderIdOf(text) };
}

/** The order that a mapping makes of an object. What is not one JSON object stays as it is, so that the service rejects it. */
export function mapDocument(order: ReadOrder, mapping: OrderMapping): ReadOrder {
  try {
    const payload = mapOrder(parseDelivery(Buffer.from(order.text)), mapping);
    const { source_order_id: id } = payload;
    return { ...order, text: JSON.stringify(payload), sourceOrderId: typeof id === 'string' ? id : null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return order;
  }
}

function sourceOrderIdOf(text: string): string | null {
  try {
    const id: unknown = JSON.parse(text)?.source_order_id;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}
