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
import type { Bell } from '@orders/queue';
import type { Histogram } from '@orders/runtime';

/** A receipt that is durable now: this request's own, or the one that first used its idempotency key. */
export interface Recorded {
  receiptId: string;
  duplicate: boolean;
  /** The key came with other content than at first. */
  payloadMismatch: boolean;
}

export interface ReceiptWriter {
  /** Resolves once the receipt is committed; rejects with the database's error, and then the outcome may be unknown. */
  record(receipt: IncomingReceipt): Promise<Recorded>;
}

interface Waiting {
  receipt: IncomingReceipt;
  resolve: (recorded: Recorded) => void;
  reject: (error: unknown) => void;
}

const MAX_RECEIPTS = 200;
const MAX_BYTES = 1024 * 1024;
/** Batches under way at once: while one is being committed the next can be sent. */
const LANES = 2;

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
  batchSizes: Histogram<never>;
}): ReceiptWriter {
  const { database, bell, graceMs, batchSizes } = deps;
  let waiting: Waiting[] = [];
  let lanes = 0;
  let scheduled = false;

  // Requests that arrive in one turn of the event loop share a batch; setImmediate ends the turn, it is no timer.
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (lanes < LANES && waiting.length > 0) {
        const { batch, rest } = takeBatch(waiting);
        waiting = rest;
        lanes += 1;
        void settle(batch).finally(() => {
          lanes -= 1;
          schedule();
        });
      }
    });
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      await write(batch);
    } catch (error) {
      if (batch.length > 1 && faultOf(error) === 'receipt') {
        // One row that Postgres refuses must not cost its neighbours their place.
        for (const one of batch) await settle([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  async function write(batch: Waiting[]): Promise<void> {
    const firsts = firstOfEachKey(batch);
    const batchId = randomUUIDv7();
    const stored = await recordReceipts(
      database,
      batchId,
      graceMs,
      firsts.map(({ receipt }) => receipt),
    );
    if (stored.length > 0) bell.ring({ batchId, receiptIds: stored });
    batchSizes.observe(batch.length);
    const ids = new Set(stored);
    const repeats: Waiting[] = [];
    for (const one of batch) {
      if (ids.has(one.receipt.receiptId)) {
        one.resolve({ receiptId: one.receipt.receiptId, duplicate: false, payloadMismatch: false });
      } else repeats.push(one);
    }
    if (repeats.length > 0) await answerRepeats(repeats);
  }

  async function answerRepeats(repeats: Waiting[]): Promise<void> {
    const keys = repeats.map(({ receipt }) => ({
      accountId: receipt.accountId,
      idempotencyKey: receipt.idempotencyKey as string,
    }));
    const originals = new Map((await findOriginals(database, keys)).map((original) => [keyOf(original), original]));
    for (const one of repeats) {
      const original = originals.get(keyOf(one.receipt));
      if (original) {
        const payloadMismatch = original.body !== null && differs(original.body, one.receipt.body);
        one.resolve({ receiptId: original.receiptId, duplicate: true, payloadMismatch });
      } else {
        // The key's row was removed between the two statements, so the key is free again.
        waiting.push(one);
        schedule();
      }
    }
  }

  return {
    record: (receipt) =>
      new Promise((resolve, reject) => {
        waiting.push({ receipt, resolve, reject });
        schedule();
      }),
  };
}

function takeBatch(waiting: Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  let bytes = 0;
  let count = 0;
  for (const { receipt } of waiting) {
    bytes += receipt.body.length;
    if (count > 0 && (bytes > MAX_BYTES || count >= MAX_RECEIPTS)) break;
    count += 1;
  }
  return { batch: waiting.slice(0, count), rest: waiting.slice(count) };
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
