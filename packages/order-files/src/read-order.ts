/** Why an order was not accepted: the service's problem, or one of the same form if it could not be sent. */
export interface Rejection {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[] | undefined;
}

/** An order of a file. */
export interface ReadOrder {
  /** Line of its first character, from 1. */
  line: number;
  /** Bytes of the file up to its end, for the progress. */
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

/** Creates an order that cannot be sent but keeps its position. */
export function unsendable(location: Location, detail: string, sourceOrderId: string | null = null): ReadOrder {
  return { ...location, text: '', sourceOrderId, rejection: { status: 400, code: 'malformed_body', detail } };
}

/** An order with its position in the file. */
export interface SourceOrder extends ReadOrder {
  /** Position of the order in the file, from 1; the line does not identify an order if the JSON has only one. */
  position: number;
  /** Position of the first order with the same source_order_id; null if this is the first, or has no id. */
  firstPosition: number | null;
}

/** Adds positions, and those of earlier orders with the same id. */
export async function* withPositions(orders: AsyncIterable<ReadOrder>): AsyncGenerator<SourceOrder> {
  let position = 0;
  const firstPositions = new Map<string, number>();
  for await (const order of orders) {
    const { sourceOrderId: id } = order;
    position += 1;
    const firstPosition = id === null ? null : (firstPositions.get(id) ?? null);
    if (id !== null && firstPosition === null) firstPositions.set(id, position);
    yield { ...order, position, firstPosition };
  }
}
