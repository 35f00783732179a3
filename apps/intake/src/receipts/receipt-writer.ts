import { randomUUIDv7 } from 'node:crypto';
import { type Database, faultOf, type IncomingReceipt, recordReceipts } from '@orders/database';
import type { Lane, Producer } from '@orders/queue';
import { createMicroBatcher, type Span, type TimeSlicer } from '@orders/runtime';
import type { IntakeMetrics } from '../observability/metrics.ts';
import { createFairShare } from './fair-share.ts';
import { createReplayQueue } from './replay-queue.ts';
import { type Recorded, type WaitingReceipt, wakeUpFor } from './waiting-receipt.ts';

export type { Kept, Recorded } from './waiting-receipt.ts';

export interface ReceiptWriter {
  /**
   * Resolves once the receipt is committed; rejects with the database's error, and then the outcome may be unknown.
   *
   * @param span of the request, which the worker's is to continue; null where it is not traced.
   */
  record(receipt: IncomingReceipt, span: Span | null): Promise<Recorded>;
  /**
   * Records the receipts of one batch, all of one account, by as few statements as hold them. Resolves once each is committed or has
   * failed, in their order; it never rejects.
   */
  recordAll(receipts: readonly IncomingReceipt[], span: Span | null): Promise<PromiseSettledResult<Recorded>[]>;
}

/** Half of what is in flight by default, so that two batches take all of it when the event loop comes round but seldom. */
const MAX_RECEIPTS = 500;
const MAX_BYTES = 1024 * 1024;
/** Write batches of one lane at once. A second one starts only when full: one large batch is cheaper than two. */
const MAX_CONCURRENT = 2;

/**
 * Writes receipts in batches without ever waiting for one to fill: a batch is what came while those before it were being written. After
 * the commit it sends a wake-up; nobody waits for that. Deliveries whose idempotency key is in use go on to the replay queue.
 *
 * @param deps.graceMs how long a wake-up has before the sweeper sends one instead, in milliseconds.
 * @param deps.fingerprint of an account's body: `contentFingerprint`, wherever that runs.
 */
export function createReceiptWriter(deps: {
  database: Database;
  producer: Producer;
  graceMs: number;
  fingerprint: (accountId: number, body: Buffer) => string | Promise<string>;
  slicer: TimeSlicer;
  metrics: Pick<IntakeMetrics, 'batchSizes' | 'receipts'>;
}): ReceiptWriter {
  const { database, producer, graceMs, metrics } = deps;
  const laneOf = createFairShare();
  const inBatches = (lane: Lane) =>
    createMicroBatcher<WaitingReceipt>({
      maxConcurrent: MAX_CONCURRENT,
      take: countOfBatch,
      work: (batch) => settle(lane, batch),
    });
  // Batches of their own: an account within its share waits for no other's, here or at the worker.
  const add: Record<Lane, (one: WaitingReceipt) => void> = { prompt: inBatches('prompt'), bulk: inBatches('bulk') };
  // And what was sent one by one does not wait here behind thousands that were sent together.
  const addSentTogether = inBatches('bulk');
  const addReplay = createReplayQueue({ ...deps, record: (one) => add[one.lane](one) });

  async function settle(lane: Lane, batch: WaitingReceipt[]): Promise<void> {
    try {
      await write(lane, batch);
    } catch (error) {
      if (batch.length > 1 && faultOf(error) === 'receipt') {
        // One row that Postgres refuses must not cost its neighbours their place.
        for (const one of batch) await settle(lane, [one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  async function write(lane: Lane, batch: WaitingReceipt[]): Promise<void> {
    const batchId = randomUUIDv7();
    const firsts = firstOfEachKey(batch).map(({ receipt }) => receipt);
    const ids = new Set(await recordReceipts(database, batchId, graceMs, firsts));
    const stored: WaitingReceipt[] = [];
    for (const one of batch) {
      if (ids.has(one.receipt.receiptId)) stored.push(one);
      else addReplay(one);
    }
    if (stored.length > 0) {
      const wakeUp = wakeUpFor(batchId, stored);
      // Behind the replies, which leave before the event loop comes round.
      setImmediate(() => producer.wakeUp(lane, wakeUp));
    }
    for (const { receipt, resolve } of stored)
      resolve({ receiptId: receipt.receiptId, duplicate: false, payloadMismatch: false });
    metrics.batchSizes.observe(batch.length);
    metrics.receipts.inc({ outcome: 'accepted' }, stored.length);
  }

  return {
    record(receipt, span) {
      const lane = laneOf(receipt.accountId, [receipt.body]);
      return new Promise((resolve, reject) => add[lane]({ receipt, lane, span, resolve, reject }));
    },
    recordAll(receipts, span) {
      const [first] = receipts;
      if (!first) return Promise.resolve([]);
      const lane = laneOf(
        first.accountId,
        receipts.map(({ body }) => body),
      );
      const to = lane === 'bulk' ? addSentTogether : add.prompt;
      return Promise.allSettled(
        receipts.map(
          (receipt) => new Promise<Recorded>((resolve, reject) => to({ receipt, lane, span, resolve, reject })),
        ),
      );
    },
  };
}

function countOfBatch(waiting: readonly WaitingReceipt[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex(({ receipt }, index) => {
    bytes += receipt.body.length;
    return index > 0 && (bytes > MAX_BYTES || index >= MAX_RECEIPTS);
  });
  return tooMany < 0 ? waiting.length : tooMany;
}

function firstOfEachKey(batch: WaitingReceipt[]): WaitingReceipt[] {
  const seen = new Set<string>();
  return batch.filter(({ receipt }) => {
    if (receipt.idempotencyKey === null) return true;
    const key = `${receipt.accountId} ${receipt.idempotencyKey}`;
    return !seen.has(key) && seen.add(key);
  });
}
