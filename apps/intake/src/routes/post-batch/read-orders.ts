import { MAX_BATCH_ERRORS, MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { TimeSlicer } from '@orders/runtime/concurrency/time-slicer.ts';
import type { Caller, Parser } from '../../parsing/parser.ts';
import { splitArray, splitLines } from './split-batch.ts';

/** An order of a batch, or why it is rejected. */
export type ReadOrder = { sourceOrderId: string; body: Buffer } | { problem: Problem; body: Buffer };

interface ReadOptions {
  caller: Caller;
  strict: boolean;
  /** Max bytes of one order. */
  maxBytes: number;
  slicer: TimeSlicer;
  parser: Parser;
}

/**
 * Reads and validates each order of a batch as if it had been sent alone. Their bodies are slices of the batch's memory. Short orders
 * are read in time slices on the event loop, longer ones in the parsing thread.
 *
 * @param kind `lines` (NDJSON) or one JSON `array`.
 * @throws {Problem} `malformed_body` if there is no order or the array is not JSON; `payload_too_large` for more than `MAX_BATCH_ORDERS`
 * orders, or an element of an array that is too long to parse.
 */
export async function readOrders(kind: 'lines' | 'array', batch: Buffer, options: ReadOptions): Promise<ReadOrder[]> {
  const { maxBytes, slicer } = options;
  const { accountId } = options.caller;
  const orders: ReadOrder[] = [];
  let isSliceOver = await slicer.next(accountId);
  for (const body of kind === 'lines' ? splitLines(batch) : splitArray(batch, MAX_ELEMENT_FACTOR * maxBytes)) {
    if (orders.length === MAX_BATCH_ORDERS) throw new Problem('payload_too_large', { detail: TOO_MANY });
    const order = await readOrder(body, options);
    if (kind === 'array' && 'problem' in order) await rejectArrayUnlessJson(order, orders.length, options);
    orders.push(order);
    if (isSliceOver()) isSliceOver = await slicer.next(accountId);
  }
  if (orders.length === 0) throw new Problem('malformed_body', { detail: 'The body holds no order.' });
  return orders;
}

/** An element above the max order size is rejected, but up to this multiple of it still parsed, to know whether the array is JSON. */
const MAX_ELEMENT_FACTOR = 4;
const TOO_MANY = `A batch is at most ${MAX_BATCH_ORDERS} orders.`;

async function readOrder(body: Buffer, { caller, strict, maxBytes, parser }: ReadOptions): Promise<ReadOrder> {
  try {
    if (body.length > maxBytes) {
      const detail = `The order is over ${maxBytes} bytes, the most this service accepts.`;
      throw new Problem('payload_too_large', { detail });
    }
    return { sourceOrderId: await parser.run(caller, 'readOrder', body, { strict }), body };
  } catch (error) {
    if (error instanceof Problem) return { problem: withCappedErrors(error), body };
    throw error;
  }
}

/** A thousand orders with a thousand errors each would take more memory than the rest of the batch. */
function withCappedErrors(problem: Problem): Problem {
  const { code, detail, errors } = problem;
  if (!errors || errors.length <= MAX_BATCH_ERRORS) return problem;
  return new Problem(code, { detail, errors: errors.slice(0, MAX_BATCH_ERRORS) });
}

/**
 * Rejects the whole array if one element is not JSON, as the boundaries of the elements are then unreliable: two missing quotes merge all
 * orders between them into one element.
 */
async function rejectArrayUnlessJson(
  { problem, body }: { problem: Problem; body: Buffer },
  index: number,
  { caller, parser }: ReadOptions,
): Promise<void> {
  if (problem.code === 'validation_failed') return;
  if (!(await parser.run(caller, 'isJson', body))) {
    throw new Problem('malformed_body', { detail: `The body is not JSON: see element ${index} of its array.` });
  }
}
