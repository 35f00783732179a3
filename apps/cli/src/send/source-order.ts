import { isUtf8 } from 'node:buffer';
import { Problem } from '@orders/domain/problems.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';

/** Why an order was not accepted: the service's problem, or one of the same form if it could not be sent. */
export interface Rejection {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[] | undefined;
}

/** An order with its position in the input. */
export interface SourceOrder extends ReadOrder {
  /** Position of the order in the input, from 1; the line does not identify an order if the JSON has only one. */
  position: number;
  /** Position of the first order with the same source_order_id; null if this is the first, or has no id. */
  firstPosition: number | null;
}

/** An order of the input. */
export interface ReadOrder {
  /** Line of its first character, from 1. */
  line: number;
  /** Bytes of the input up to its end, for the progress. */
  end: number;
  /** Its JSON on one line; empty if it cannot be sent. */
  text: string;
  /** Null if there is none or it is unreadable. */
  sourceOrderId: string | null;
  /** Why it cannot be sent. */
  rejection?: Rejection;
  /** Of rows of the order: the first value counts. */
  contradictions?: readonly Contradiction[];
}

/** A cell with another value than a row above it of the same order; `column` is null for a row that is the same as the one above it. */
export interface Contradiction {
  line: number;
  column: string | null;
}

export type Location = Pick<ReadOrder, 'line' | 'end'>;

/** Anything longer is a mistake, such as a file without line breaks; the service accepts far less. */
export const MAX_ORDER_BYTES = 16 * 2 ** 20;

/** Creates an order from the bytes of its JSON, which the service validates. */
export function sourceOrder(bytes: Buffer, location: Location): ReadOrder {
  // Decoding would replace invalid bytes, so two different ids could become equal.
  if (!isUtf8(bytes)) return unsendable(location, 'The order is not UTF-8.');
  const text = bytes.toString('utf8');
  return { ...location, text, sourceOrderId: sourceOrderIdOf(text) };
}

/** Creates an order that cannot be sent but keeps its position. */
export function unsendable(location: Location, detail: string, sourceOrderId: string | null = null): ReadOrder {
  return { ...location, text: '', sourceOrderId, rejection: { status: 400, code: 'malformed_body', detail } };
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
