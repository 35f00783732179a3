import { isUtf8 } from 'node:buffer';

/** Why an order was not accepted: in the service's words, or of the same form where it could not even be sent. */
export interface Refusal {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[] | undefined;
}

/** One order as it stands in the input. */
export interface SourceOrder extends ReadOrder {
  /** Among the orders of the input, from 1; as JSON on one line has them all on line 1. */
  position: number;
  /** The place of the first order of the input with the same source_order_id; null where this one is the first, or has none. */
  firstPosition: number | null;
}

/** One order as it was read. */
export interface ReadOrder {
  /** Of its first character, from 1. */
  line: number;
  /** Its JSON, without a line break; empty where it is refused. */
  text: string;
  /** Null where it has none that could be read. */
  sourceOrderId: string | null;
  /** It cannot be sent. */
  refusal?: Refusal;
}

/** More in one piece is a mistake, such as a file without line breaks; the service takes far less. */
export const MAX_ORDER_BYTES = 16 * 2 ** 20;

/** An order from the bytes of its JSON; whether they are JSON is for the service to say. */
export function sourceOrder(bytes: Buffer, line: number): ReadOrder {
  // Decoded it would be another text: two ids with different broken characters would become one.
  if (!isUtf8(bytes)) return unsendable(line, 'The order is not UTF-8.');
  const text = bytes.toString('utf8');
  return { line, text, sourceOrderId: sourceOrderIdOf(text) };
}

/** An order that cannot be sent keeps its place, with the reason. */
export function unsendable(line: number, detail: string, sourceOrderId: string | null = null): ReadOrder {
  return { line, text: '', sourceOrderId, refusal: { status: 400, code: 'malformed_body', detail } };
}

function sourceOrderIdOf(text: string): string | null {
  try {
    const id: unknown = JSON.parse(text)?.source_order_id;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}
