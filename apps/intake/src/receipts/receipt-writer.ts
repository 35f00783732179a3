import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '@orders/database/connect.ts';
import { faultOf } from '@orders/database/database-errors.ts';
import { type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { isLockWaitOver, LOCK_WAIT_MS, NO_LOCK_WAIT_MS } from '@orders/database/run.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import type { Lane } from '@orders/queue/wake-up.ts';
import { chunkLength } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { createFairQueue, type TimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import { createMicroBatcher } from '@orders/runtime/concurrency/micro-batcher.ts';
import type { Span } from '@orders/runtime/observability/span.ts';
import type { IntakeMetrics } from '../observability/metrics.ts';
import { createReplayQueue } from './replay-queue.ts';
import { bodyLength, type Recorded, type WaitingReceipt, wakeUpFor } from './waiting-receipt.ts';

/** Max orders per account and second, at one intake, in the prompt lane: less than a hundredth of the service's capacity. */
const FAIR_SHARE = 50;
const WINDOW_MS = 1000;
/** A long order counts as one for each started 16 KiB. */
const BYTES_PER_ORDER = 16 * 1024;

/** Picks the lane for orders that an account sends together, and counts them against its fair share. */
type PickLane = (accountId: number, bodies: readonly Buffer[]) => Lane;

/**
 * Counts orders in windows of one second. An account uses the bulk lane if it is above its share in this window or was in the previous one.
 * No order is rejected for this.
 */
export function createLanePicker(): PickLane {
  let counts = new Map<number, number>();
  let previousCounts = counts;
  let endsAt = 0;

  return (accountId, bodies) => {
    const now = performance.now();
    if (now >= endsAt) {
      // The previous window ended just now, unless no order came for a whole window.
      previousCounts = now < endsAt + WINDOW_MS ? counts : new Map();
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const cost = bodies.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / BYTES_PER_ORDER)), 0);
    const count = (counts.get(accountId) ?? 0) + cost;
    counts.set(accountId, count);
    return count > FAIR_SHARE || (previousCounts.get(accountId) ?? 0) > FAIR_SHARE ? 'bulk' : 'prompt';
  };
}

export type { Recorded } from './waiting-receipt.ts';

export interface ReceiptWriter {
  /**
   * Resolves once the receipt is committed. Rejects with the database's error, after which the outcome may be unknown.
   *
   * @param span of the request, continued by the worker; null if the request is not traced.
   */
  record(receipt: IncomingReceipt, span: Span | null): Promise<Recorded>;
  /**
   * Records the receipts of one HTTP batch, all of one account, in as few statements as possible. Never rejects; resolves with one result
   * per receipt, in their order.
   */
  recordAll(receipts: readonly IncomingReceipt[], span: Span | null): Promise<PromiseSettledResult<Recorded>[]>;
}

/** Half of the default MAX_IN_FLIGHT: two concurrent write batches can take all requests that are in flight. */
const MAX_RECEIPTS = 500;
const MAX_BYTES = 1024 * 1024;
/** Max concurrent write batches per lane. A second one starts only when full: one large batch is cheaper than two. */
const MAX_CONCURRENT = 2;
/** Max accounts whose receipts wait, apart from the write batches, for idempotency keys that other transactions store. */
const MAX_LOCKED = 2;

/**
 * Writes receipts in batches without waiting for one to fill: a batch is what arrived while the previous ones were being written. After
 * the commit it sends a wake-up, which no request waits for. Deliveries whose idempotency key is taken go to the replay queue.
 *
 * @param deps.graceMs time in milliseconds after which the sweeper takes the receipts itself.
 * @param deps.fingerprint `contentFingerprint` of a body, in this thread or another.
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
  const pickLane = createLanePicker();
  const createLaneBatcher = (lane: Lane) =>
    createMicroBatcher<WaitingReceipt>({
      maxConcurrent: MAX_CONCURRENT,
      nextBatchSize: (waiting) => chunkLength(waiting, bodyLength, { size: MAX_BYTES, count: MAX_RECEIPTS }),
      work: (batch) => writeOrReject(lane, batch),
    });
  // Write batches are per lane, so an account within its share never waits for bulk senders, here or in the worker.
  const add: Record<Lane, (delivery: WaitingReceipt) => void> = {
    prompt: createLaneBatcher('prompt'),
    bulk: createLaneBatcher('bulk'),
  };
  // HTTP batches in the bulk lane have their own batcher, so that a single order does not wait behind thousands.
  const addOfHttpBatch = createLaneBatcher('bulk');
  const addReplay = createReplayQueue({ ...deps, recordAgain: (delivery) => add[delivery.lane](delivery) });

  const runLocked = createFairQueue<number>(MAX_LOCKED, 1);

  async function writeOrReject(lane: Lane, batch: WaitingReceipt[], lockWaitMs = LOCK_WAIT_MS): Promise<void> {
    try {
      await write(lane, batch, lockWaitMs);
    } catch (error) {
      if (isLockWaitOver(error) && lockWaitMs > 0) await writeUnlocked(lane, batch);
      else if (batch.length > 1 && faultOf(error) === 'receipt') {
        // A row that Postgres rejects must not fail the others.
        for (const delivery of batch) await writeOrReject(lane, [delivery], lockWaitMs);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  /** Bisects a batch by account until those of the account with a locked key are alone. They wait for it, and no others wait for them. */
  async function writeUnlocked(lane: Lane, batch: WaitingReceipt[]): Promise<void> {
    const accountIds = [...new Set(batch.map(({ receipt }) => receipt.accountId))];
    const [accountId] = accountIds;
    if (accountIds.length === 1 && accountId !== undefined) {
      void runLocked(accountId, () => writeOrReject(lane, batch, 0));
      return;
    }
    const firstHalf = new Set(accountIds.slice(0, accountIds.length / 2));
    const isInFirst = ({ receipt }: WaitingReceipt) => firstHalf.has(receipt.accountId);
    await writeOrReject(lane, batch.filter(isInFirst), NO_LOCK_WAIT_MS);
    const inSecond = batch.filter((delivery) => !isInFirst(delivery));
    await writeOrReject(lane, inSecond, NO_LOCK_WAIT_MS);
  }

  async function write(lane: Lane, batch: WaitingReceipt[], lockWaitMs: number): Promise<void> {
    const batchId = randomUUIDv7();
    const firsts = firstOfEachKey(batch).map(({ receipt }) => receipt);
    const storedIds = new Set(await recordReceipts(database, batchId, graceMs, firsts, lockWaitMs));
    const stored: WaitingReceipt[] = [];
    for (const delivery of batch) {
      if (storedIds.has(delivery.receipt.receiptId)) stored.push(delivery);
      else addReplay(delivery);
    }
    if (stored.length > 0) {
      const wakeUp = wakeUpFor(batchId, stored);
      // After the replies, which leave in this iteration of the event loop.
      setImmediate(() => producer.wakeUp(lane, wakeUp));
    }
    for (const { receipt, resolve } of stored)
      resolve({ receiptId: receipt.receiptId, duplicate: false, payloadMismatch: false });
    metrics.batchSizes.observe(batch.length);
    metrics.receipts.inc({ outcome: 'accepted' }, stored.length);
  }

  return {
    record(receipt, span) {
      const lane = pickLane(receipt.accountId, [receipt.body]);
      return new Promise((resolve, reject) => add[lane]({ receipt, lane, span, resolve, reject }));
    },
    recordAll(receipts, span) {
      const [first] = receipts;
      if (!first) return Promise.resolve([]);
      const lane = pickLane(
        first.accountId,
        receipts.map(({ body }) => body),
      );
      const addToLane = lane === 'bulk' ? addOfHttpBatch : add.prompt;
      return Promise.allSettled(
        receipts.map(
          (receipt) => new Promise<Recorded>((resolve, reject) => addToLane({ receipt, lane, span, resolve, reject })),
        ),
      );
    },
  };
}

/** Without repetitions of an idempotency key within the batch; these are replays. */
function firstOfEachKey(batch: WaitingReceipt[]): WaitingReceipt[] {
  const seen = new Set<string>();
  return batch.filter(({ receipt }) => {
    if (receipt.idempotencyKey === null) return true;
    const key = `${receipt.accountId} ${receipt.idempotencyKey}`;
    return !seen.has(key) && seen.add(key);
  });
}
