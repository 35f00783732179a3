import { type BatchResult, ProblemError, ServerError } from '@orders/client';
import { batchKey, type Way } from '@orders/order-files/batch-key.ts';
import type { Rejection, SourceOrder } from '@orders/order-files/read-order.ts';
import { limitConcurrency } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Session } from '../retry-gate.ts';

/** An order with the service's reply: it has either a receipt or a rejection. */
export interface SentOrder extends SourceOrder {
  receiptId?: string;
  /** Whether it had arrived before, so that the service returned the receipt of then. */
  isReplay?: boolean;
}

type Reply = Pick<SentOrder, 'receiptId' | 'isReplay' | 'rejection'>;
type Send = (orders: readonly SourceOrder[]) => Promise<SentOrder[]>;

/** Allows for a large request on a slow connection. */
const BATCH_TIMEOUT_MS = 40_000;
/** Max internal errors for an order sent alone; then it is skipped, so that the others continue. */
const MAX_FAULTS = 5;

/** Sends batches, at most `concurrency` at the same time, and yields the replies in the order of the input. */
export async function* sendInOrder(
  batches: AsyncIterable<SourceOrder[]>,
  send: Send,
  concurrency: number,
): AsyncGenerator<SentOrder[]> {
  const run = limitConcurrency(concurrency);
  const started: Promise<SentOrder[]>[] = [];
  for await (const batch of batches) {
    const replies = run(() => send(batch));
    // Thrown when its turn comes.
    replies.catch(() => {});
    started.push(replies);
    // Twice as many as are in flight, so that others go on while the first of them is slow.
    if (started.length >= 2 * concurrency) yield await (started.shift() as Promise<SentOrder[]>);
  }
  for (const replies of started) yield await replies;
}

/** Creates the function that sends the orders of a batch until each is accepted or finally rejected. */
export function createSend({ client, gate, signal }: Session, way: Way): Send {
  async function deliver(orders: readonly SourceOrder[]): Promise<Reply[]> {
    if (orders.length === 0) return [];
    const isAlone = orders.length === 1;
    let faults = 0;
    try {
      return await gate.run(() =>
        request(orders).catch((error) => {
          const isFault = isAlone && error instanceof ServerError && error.status === 500;
          if (!isFault || ++faults < MAX_FAULTS) throw error;
          return [{ rejection: rejectionIn(error) }];
        }),
      );
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (isAlone && [400, 413, 422].includes(error.status)) return [{ rejection: rejectionIn(error) }];
      if (isAlone || error.status !== 413) throw error;
      // A proxy has a smaller limit.
      const middle = orders.length >> 1;
      return [...(await deliver(orders.slice(0, middle))), ...(await deliver(orders.slice(middle)))];
    }
  }

  async function request(orders: readonly SourceOrder[]): Promise<Reply[]> {
    const texts = orders.map(({ text }) => text);
    const options = { idempotencyKey: batchKey(texts, orders[0]?.position ?? 1, way), strict: way.strict, signal };
    if (way.webhook) return [replyOf(await client.sendWebhook(texts[0] as string, options))];
    return (await client.submitBatch(texts, { ...options, timeoutMs: BATCH_TIMEOUT_MS })).results.map(replyOf);
  }

  return async (orders) => {
    const replies = (await deliver(orders.filter(({ rejection }) => !rejection))).values();
    return orders.map((order) => (order.rejection ? order : { ...order, ...replies.next().value }));
  };
}

function replyOf(reply: BatchResult): Reply {
  if (reply.error) return { rejection: reply.error };
  return { receiptId: reply.receipt_id, isReplay: reply.duplicate === true };
}

function rejectionIn({ status, problem }: ProblemError): Rejection {
  return { ...problem, status };
}
