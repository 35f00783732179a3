import { MAX_BATCH_ORDERS, Problem, parseBody, validateOrder, validateStrictly } from '@orders/domain';
import type { Turns } from '../take-turns.ts';
import { splitArray, splitLines } from './split-batch.ts';

/** An order of a batch as it was read: what is kept of it, or why it is refused. */
export type ReadOrder = { sourceOrderId: string; body: Buffer } | { problem: Problem; body: Buffer };

/**
 * Reads the orders of a batch, each as if it had been sent alone: what is wrong with one is its own problem. Their bodies are stretches of
 * the batch's.
 *
 * @param kind of the batch: `lines` (NDJSON) or one JSON `array`.
 * @param options.maxBytes of one order.
 * @throws {Problem} `malformed_body` when there is no order, or no JSON array; `payload_too_large` for more than `MAX_BATCH_ORDERS`, and
 * for an element of an array that is too long to know whether it is JSON.
 */
export async function readOrders(
  kind: 'lines' | 'array',
  batch: Buffer,
  { strict, maxBytes, turns }: { strict: boolean; maxBytes: number; turns: Turns },
): Promise<ReadOrder[]> {
  const orders: ReadOrder[] = [];
  let isOver = await turns.next();
  for (const body of kind === 'lines' ? splitLines(batch) : splitArray(batch)) {
    if (orders.length === MAX_BATCH_ORDERS) throw new Problem('payload_too_large', { detail: TOO_MANY });
    const order = readOrder(body, strict, maxBytes);
    if (kind === 'array' && 'problem' in order) requireJson(order, orders.length, LOOKED_AT * maxBytes);
    orders.push(order);
    if (isOver()) isOver = await turns.next();
  }
  if (orders.length === 0) throw new Problem('malformed_body', { detail: 'The body holds no order.' });
  return orders;
}

/** An element of an array so many times as long as an order may be is still parsed in one go, to know whether it is one. */
const LOOKED_AT = 4;
const TOO_MANY = `A batch is at most ${MAX_BATCH_ORDERS} orders.`;

function readOrder(body: Buffer, strict: boolean, maxBytes: number): ReadOrder {
  try {
    if (body.length > maxBytes) {
      const detail = `The order is over ${maxBytes} bytes, the most this service accepts.`;
      throw new Problem('payload_too_large', { detail });
    }
    const payload = parseBody(body);
    if (strict) validateStrictly(payload);
    else validateOrder(payload);
    return { sourceOrderId: payload.source_order_id as string, body };
  } catch (error) {
    if (error instanceof Problem) return { problem: error, body };
    throw error;
  }
}

/**
 * An array with an element that is no JSON is no JSON itself, and nobody knows what its sender meant: a quote that is missing in one order
 * and in another makes one element of all between them.
 */
function requireJson({ problem, body }: { problem: Problem; body: Buffer }, index: number, maxBytes: number): void {
  if (problem.code === 'validation_failed') return;
  if (body.length > maxBytes) {
    const detail = `Element ${index} of the array is over ${maxBytes} bytes, too long to look at.`;
    throw new Problem('payload_too_large', { detail });
  }
  try {
    JSON.parse(body.toString('utf8'));
  } catch {
    throw new Problem('malformed_body', { detail: `The body is not JSON: see element ${index} of its array.` });
  }
}
