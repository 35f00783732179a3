import { MAX_BATCH_ERRORS, MAX_BATCH_ORDERS, Problem } from '@orders/domain';
import type { TimeSlicer } from '@orders/runtime';
import type { Caller, Parser } from '../../parsing/parser.ts';
import { splitArray, splitLines } from './split-batch.ts';

/** An order of a batch as it was read: what is kept of it, or why it is refused. */
export type ReadOrder = { sourceOrderId: string; body: Buffer } | { problem: Problem; body: Buffer };

interface Reading {
  caller: Caller;
  strict: boolean;
  /** Of one order. */
  maxBytes: number;
  slicer: TimeSlicer;
  parser: Parser;
}

/**
 * Reads the orders of a batch, each as if it had been sent alone: what is wrong with one is its own problem. Their bodies are stretches of
 * the batch's. Short orders are read in time slices, longer ones in the parsing thread.
 *
 * @param kind of the batch: `lines` (NDJSON) or one JSON `array`.
 * @throws {Problem} `malformed_body` when there is no order, or no JSON array; `payload_too_large` for more than `MAX_BATCH_ORDERS`, and
 * for an element of an array that is too long to know whether it is JSON.
 */
export async function readOrders(kind: 'lines' | 'array', batch: Buffer, reading: Reading): Promise<ReadOrder[]> {
  const { maxBytes, slicer } = reading;
  const { accountId } = reading.caller;
  const orders: ReadOrder[] = [];
  let isOver = await slicer.next(accountId);
  for (const body of kind === 'lines' ? splitLines(batch) : splitArray(batch, MAX_ELEMENT * maxBytes)) {
    if (orders.length === MAX_BATCH_ORDERS) throw new Problem('payload_too_large', { detail: TOO_MANY });
    const order = await readOrder(body, reading);
    if (kind === 'array' && 'problem' in order) await requireJson(order, orders.length, reading);
    orders.push(order);
    if (isOver()) isOver = await slicer.next(accountId);
  }
  if (orders.length === 0) throw new Problem('malformed_body', { detail: 'The body holds no order.' });
  return orders;
}

/** An element of an array this many times as long as an order may be is still parsed, to know whether it is JSON. */
const MAX_ELEMENT = 4;
const TOO_MANY = `A batch is at most ${MAX_BATCH_ORDERS} orders.`;

async function readOrder(body: Buffer, { caller, strict, maxBytes, parser }: Reading): Promise<ReadOrder> {
  try {
    if (body.length > maxBytes) {
      const detail = `The order is over ${maxBytes} bytes, the most this service accepts.`;
      throw new Problem('payload_too_large', { detail });
    }
    return { sourceOrderId: await parser.run(caller, 'readOrder', body, { strict }), body };
  } catch (error) {
    if (error instanceof Problem) return { problem: withFewErrors(error), body };
    throw error;
  }
}

/** A thousand orders with a thousand errors each would take more memory than all else of the batch. */
function withFewErrors(problem: Problem): Problem {
  const { code, detail, errors } = problem;
  if (!errors || errors.length <= MAX_BATCH_ERRORS) return problem;
  return new Problem(code, { detail, errors: errors.slice(0, MAX_BATCH_ERRORS) });
}

/**
 * An array with an element that is no JSON is no JSON itself, and nobody knows what its sender meant: a quote that is missing in one order
 * and in another makes one element of all between them.
 */
async function requireJson(
  { problem, body }: { problem: Problem; body: Buffer },
  index: number,
  { caller, parser }: Reading,
): Promise<void> {
  if (problem.code === 'validation_failed') return;
  if (!(await parser.run(caller, 'isJson', body))) {
    throw new Problem('malformed_body', { detail: `The body is not JSON: see element ${index} of its array.` });
  }
}
