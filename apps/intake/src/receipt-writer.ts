import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type Database,
  faultOf,
  findOriginals,
  type IncomingReceipt,
  type Original,
  recordReceipts,
} from '@orders/database';
import { parseBody } from '@orders/domain';
import type { Bell, Lane, Ring } from '@orders/queue';
import { createTimeSlicer, inGroups, type Span } from '@orders/runtime';
import { createFairShare } from './fair-share.ts';
import type { IntakeMetrics } from './metrics.ts';

/** A receipt that is durable now: this request's own, or the one that first used its idempotency key. */
export interface Recorded {
  receiptId: string;
  duplicate: boolean;
  /** The key came with other content than at first. */
  payloadMismatch: boolean;
}

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

interface Waiting {
  receipt: IncomingReceipt;
  span: Span | null;
  resolve: (recorded: Recorded) => void;
  reject: (error: unknown) => void;
}

/** Half of what is in flight by default, so that two batches take all of it when the event loop comes round but seldom. */
const MAX_RECEIPTS = 500;
const MAX_BYTES = 1024 * 1024;
/** Repeated keys whose first bodies are held at once, each as long as an order may be: 12.5 MiB by default, however short the repeats are. */
const ORIGINALS_AT_ONCE = 50;
/** Batches of one lane under way at once, where there is more than one can hold. */
const BATCHES_AT_ONCE = 2;

/**
 * Writes receipts in batches without ever waiting for one to fill: a batch is what came while those before it were being written. After
 * the commit it rings; nobody waits for that.
 *
 * @param graceMs how long the bell has before the sweeper rings instead, in milliseconds.
 */
export function createReceiptWriter(deps: {
  database: Database;
  bell: Bell;
  graceMs: number;
  metrics: Pick<IntakeMetrics, 'batchSizes' | 'receipts'>;
}): ReceiptWriter {
  const { database, bell, graceMs, metrics } = deps;
  const laneOf = createFairShare();
  const slicer = createTimeSlicer();
  const inBatches = (lane: Lane) =>
    inGroups<Waiting>({ atOnce: BATCHES_AT_ONCE, take: countOfBatch, work: (batch) => settle(lane, batch) });
  // Batches of their own: an account within its share waits for no other's, here or at the worker.
  const add: Record<Lane, (one: Waiting) => void> = { prompt: inBatches('prompt'), bulk: inBatches('bulk') };
  // And what was sent one by one does not wait here behind thousands that were sent together.
  const addSentTogether = inBatches('bulk');

  async function settle(lane: Lane, batch: Waiting[]): Promise<void> {
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

  async function write(lane: Lane, batch: Waiting[]): Promise<void> {
    const firsts = firstOfEachKey(batch);
    const batchId = randomUUIDv7();
    const stored = await recordReceipts(
      database,
      batchId,
      graceMs,
      firsts.map(({ receipt }) => receipt),
    );
    const ids = new Set(stored);
    const repeats: Waiting[] = [];
    const ring: Ring = { batchId, receiptIds: stored };
    for (const one of batch) {
      if (ids.has(one.receipt.receiptId)) {
        if (one.span) trace(ring, one.receipt.receiptId, one.span, batch.length);
        one.resolve({ receiptId: one.receipt.receiptId, duplicate: false, payloadMismatch: false });
      } else repeats.push(one);
    }
    // Behind the replies, which leave before the turn ends.
    if (stored.length > 0) setImmediate(() => bell.ring(lane, ring));
    metrics.batchSizes.observe(batch.length);
    metrics.receipts.inc({ outcome: 'accepted' }, stored.length);
    for (let from = 0; from < repeats.length; from += ORIGINALS_AT_ONCE) {
      await answerRepeats(lane, repeats.slice(from, from + ORIGINALS_AT_ONCE));
    }
  }

  async function answerRepeats(lane: Lane, repeats: Waiting[]): Promise<void> {
    const keys = repeats.map(({ receipt }) => ({
      accountId: receipt.accountId,
      idempotencyKey: receipt.idempotencyKey as string,
    }));
    const originals = new Map((await findOriginals(database, keys)).map((original) => [keyOf(original), original]));
    // However short the repeats are, what they are compared with is as long as orders may be.
    let isOver = await slicer.next(0);
    for (const one of repeats) {
      if (isOver()) isOver = await slicer.next(0);
      const original = originals.get(keyOf(one.receipt));
      if (original) {
        const payloadMismatch = original.body !== null && differs(original.body, one.receipt.body);
        metrics.receipts.inc({ outcome: 'replayed' });
        one.resolve({ receiptId: original.receiptId, duplicate: true, payloadMismatch });
      } else {
        // The key's row was removed between the two statements, so the key is free again.
        add[lane](one);
      }
    }
  }

  return {
    record(receipt, span) {
      const lane = laneOf(receipt.accountId);
      return new Promise((resolve, reject) => add[lane]({ receipt, span, resolve, reject }));
    },
    recordAll(receipts, span) {
      const [first] = receipts;
      if (!first) return Promise.resolve([]);
      const to = laneOf(first.accountId, receipts.length) === 'bulk' ? addSentTogether : add.prompt;
      return Promise.allSettled(
        receipts.map((receipt) => new Promise<Recorded>((resolve, reject) => to({ receipt, span, resolve, reject }))),
      );
    },
  };
}

function trace(ring: Ring, receiptId: string, span: Span, batchSize: number): void {
  span.set({ 'orders.batch_id': ring.batchId, 'orders.batch_size': batchSize });
  ring.traces ??= {};
  ring.traces[receiptId] = span.traceparent;
}

function countOfBatch(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex(({ receipt }, index) => {
    bytes += receipt.body.length;
    return index > 0 && (bytes > MAX_BYTES || index >= MAX_RECEIPTS);
  });
  return tooMany < 0 ? waiting.length : tooMany;
}

function firstOfEachKey(batch: Waiting[]): Waiting[] {
  const seen = new Set<string>();
  return batch.filter(({ receipt }) => {
    if (receipt.idempotencyKey === null) return true;
    const key = keyOf(receipt);
    return !seen.has(key) && seen.add(key);
  });
}

function keyOf(one: Pick<Original, 'accountId'> & { idempotencyKey: string | null }): string {
  return `${one.accountId} ${one.idempotencyKey}`;
}

function differs(original: Buffer, repeated: Buffer): boolean {
  return !original.equals(repeated) && !isDeepStrictEqual(parseBody(original), parseBody(repeated));
}
