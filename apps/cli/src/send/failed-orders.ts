import type { FollowedOrder } from './follow-up.ts';
import { openSpool } from './spool.ts';

/** An order that needs attention, and why; without its content. */
export interface FailedOrder {
  /** Position of the order in the input, from 1. */
  position: number;
  line: number;
  source_order_id: string | null;
  receipt_id: string | null;
  /** `differs`: the service has another content. `repeated`: an earlier order of the input has its id. */
  status: 'rejected' | 'dead' | 'differs' | 'repeated';
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[] | undefined;
  /** Pointers to the differences from the service's order. */
  changed?: readonly string[];
  /** Position of the first order of the input with the same source_order_id. */
  repeats?: number;
}

const MAX_SHOWN_POINTERS = 5;

/** The failed orders of a run, in input order, with their text for the file of failures. */
export type FailedOrders = ReturnType<typeof createFailedOrders>;

export function createFailedOrders(directory: string) {
  const spool = openSpool<{ failure: FailedOrder; text: string }>(directory);
  // A map, as the service may send any code, such as `constructor`.
  const byCode = new Map<string, number>();
  const numbers = { rejected: 0, dead: 0, differs: 0, repeated: 0 };
  let [failed, sendable] = [0, 0];
  return {
    /** Adds an order if it failed. */
    add(order: FollowedOrder): void {
      const failure = failureOf(order);
      if (!failure) return;
      spool.add([{ failure, text: order.text }]);
      failed += 1;
      if (order.text !== '') sendable += 1;
      numbers[failure.status] += 1;
      byCode.set(failure.code, (byCode.get(failure.code) ?? 0) + 1);
    },
    numbers: (): Readonly<typeof numbers> => numbers,
    counts: () => ({ failed, failed_by_code: Object.fromEntries(byCode), sendable }),
    async *failures(): AsyncGenerator<FailedOrder> {
      for await (const { failure } of spool.read()) yield failure;
    },
    /** The orders as they were sent, which are not all: what is not one line of UTF-8 text has none. */
    async *texts(): AsyncGenerator<string> {
      for await (const { text } of spool.read()) if (text !== '') yield text;
    },
    close: spool.close,
  };
}

function failureOf(order: FollowedOrder): FailedOrder | null {
  const { position, line, sourceOrderId, receiptId = null, firstPosition, rejection, changed = [] } = order;
  const reason = reasonOf(order);
  if (!reason) return null;
  return {
    position,
    line,
    source_order_id: sourceOrderId,
    receipt_id: receiptId,
    ...reason,
    ...(rejection?.errors && { errors: rejection.errors }),
    ...(changed.length > 0 && { changed }),
    ...(firstPosition !== null && { repeats: firstPosition }),
  };
}

function reasonOf(order: FollowedOrder): Pick<FailedOrder, 'status' | 'code' | 'detail'> | null {
  const { status, error, rejection, changed = [], firstPosition } = order;
  if (rejection) return { status: 'rejected', code: rejection.code, detail: rejection.detail };
  if (status === 'dead') return { status, code: 'dead', detail: 'It could not be written.', ...error };
  if (changed.length > 0) {
    const more = changed.length - MAX_SHOWN_POINTERS;
    const pointers = `${changed.slice(0, MAX_SHOWN_POINTERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const detail = `The account had this order before, with other content, and that is unchanged. They differ at ${pointers}.`;
    return { status: 'differs', code: 'duplicate_differs', detail };
  }
  if (firstPosition === null) return null;
  const detail = `Order ${firstPosition} has this source_order_id, too. One id makes one order.`;
  return { status: 'repeated', code: 'repeated_id', detail };
}
