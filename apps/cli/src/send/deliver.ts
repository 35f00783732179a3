import { type Accepted, IdempotencyMismatchError, ProblemError, ServerError } from '@orders/client';
import { MAX_BATCH_ERRORS } from '@orders/domain/interface-limits.ts';
import { limitConcurrency } from '@orders/runtime/concurrency/fair-queue.ts';
import type { Batch } from './cut-batches.ts';
import { MISMATCH, type Result } from './journal-entries.ts';
import type { Session } from './retry-gate.ts';
import type { Refusal, SourceOrder } from './source-order.ts';

/** Sends the orders of a batch until each is accepted or finally rejected. */
export type Deliver = (batch: Pick<Batch, 'orders' | 'key'>) => Promise<Result[]>;

/** Allows for a large request on a slow connection. */
const BATCH_TIMEOUT_MS = 40_000;
/** Max internal errors per order; then it is skipped, so that the others continue. */
const MAX_FAULTS = 5;
/** An older service drops other content under a used key. */
const DROPPED = {
  status: 202,
  code: MISMATCH,
  detail: 'The idempotency key was used before with other content, and this service kept nothing of the order.',
};

/** Sends all orders of a batch in one request. */
export function deliverInBatches({ client, gate, signal }: Session, strict: boolean): Deliver {
  return async function deliver({ orders, key }: Pick<Batch, 'orders' | 'key'>): Promise<Result[]> {
    const texts = orders.filter((order) => !order.refusal).map(({ text }) => text);
    try {
      const options = { idempotencyKey: key, strict, signal, timeoutMs: BATCH_TIMEOUT_MS };
      const { results } = texts.length > 0 ? await gate.run(() => client.submitBatch(texts, options)) : { results: [] };
      const replies = results.values();
      return orders.map((order) =>
        order.refusal ? refused(order, order.refusal) : resultOf(order, replies.next().value as Reply),
      );
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (orders.length === 1 && isOrderError(error)) return [refused(orders[0] as SourceOrder, refusalIn(error))];
      if (error.status !== 413 || orders.length === 1) throw error;
      // A proxy has a smaller limit. The halves get keys of their own, deterministically.
      const middle = orders.length >> 1;
      const first = await deliver({ orders: orders.slice(0, middle), key: `${key}.0` });
      return [...first, ...(await deliver({ orders: orders.slice(middle), key: `${key}.1` }))];
    }
  };
}

/** Sends each order in its own signed request, up to `concurrency` at a time. */
export function deliverAsWebhooks({ client, gate, signal }: Session, strict: boolean, concurrency: number): Deliver {
  const runLong = limitConcurrency(concurrency);
  return ({ orders, key }) =>
    Promise.all(
      orders.map((order, index) =>
        runLong(async () => {
          if (order.refusal) return refused(order, order.refusal);
          let faults = 0;
          const send = () =>
            client.sendWebhook(order.text, { idempotencyKey: `${key}.${index}`, strict, signal }).catch((error) => {
              if (error instanceof IdempotencyMismatchError) return error.accepted;
              if (!(error instanceof ServerError) || error.status !== 500 || ++faults < MAX_FAULTS) throw error;
              return { error: refusalIn(error) };
            });
          try {
            return resultOf(order, await gate.run(send));
          } catch (error) {
            if (error instanceof ProblemError && isOrderError(error)) return refused(order, refusalIn(error));
            throw error;
          }
        }),
      ),
    );
}

type Reply = (Accepted & { error?: undefined }) | { error: Refusal };

function resultOf(order: SourceOrder, reply: Reply): Result {
  if (reply.error) return refused(order, reply.error);
  const { position, line, sourceOrderId } = order;
  if (!reply.payload_mismatch) return [position, line, sourceOrderId, reply.receipt_id];
  return reply.kept_as ? [position, line, sourceOrderId, reply.kept_as, MISMATCH] : refused(order, DROPPED);
}

function refused({ position, line, sourceOrderId }: SourceOrder, { status, code, detail, errors }: Refusal): Result {
  return [
    position,
    line,
    sourceOrderId,
    { status, code, detail, ...(errors && { errors: errors.slice(0, MAX_BATCH_ERRORS) }) },
  ];
}

function isOrderError({ status }: ProblemError): boolean {
  return status === 400 || status === 413 || status === 422;
}

function refusalIn({ status, problem }: ProblemError): Refusal {
  return { ...problem, status };
}
