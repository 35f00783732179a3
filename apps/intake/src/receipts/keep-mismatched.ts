import { randomUUIDv7 } from 'node:crypto';
import {
  contentKey,
  type Database,
  faultOf,
  findReceiptsByKeys,
  keepMismatches,
  type Mismatch,
  readOriginalBodies,
} from '@orders/database';
import type { Producer } from '@orders/queue';
import type { TimeSlicer } from '@orders/runtime';
import type { IntakeMetrics } from '../observability/metrics.ts';
import { type Kept, type WaitingReceipt, wakeUpFor } from './waiting-receipt.ts';

export interface ReplayDeps {
  database: Database;
  producer: Producer;
  graceMs: number;
  fingerprint: (accountId: number, body: Buffer) => string | Promise<string>;
  /** Short bodies are fingerprinted on the event loop, a slice at a time. */
  slicer: TimeSlicer;
  metrics: Pick<IntakeMetrics, 'receipts'>;
  /** Takes a receipt whose key turned out to be free. */
  record: (one: WaitingReceipt) => void;
}

/** A delivery whose bytes differ from those of the receipt that first used its key. */
export interface Differing {
  one: WaitingReceipt;
  originalId: string;
  originalLength: number;
  /** Whether it names the same order. */
  isResend: boolean;
}

interface Mismatched {
  one: WaitingReceipt;
  mismatch: Mismatch;
}

/** Answers a delivery with the original receipt. */
export function answerReplay({ metrics }: ReplayDeps, one: WaitingReceipt, receiptId: string, kept?: Kept): void {
  metrics.receipts.inc({ outcome: 'replayed' });
  one.resolve({ receiptId, duplicate: true, payloadMismatch: kept !== undefined, ...(kept && { kept }) });
}

/** Answers those whose content is the same, in another spelling. @returns the others. */
export async function splitByContent(
  deps: ReplayDeps,
  accountId: number,
  differing: readonly Differing[],
): Promise<Mismatched[]> {
  const { database, slicer, fingerprint } = deps;
  const compared = differing.flatMap(({ originalId, isResend }) => (isResend ? originalId : []));
  const bodies = compared.length > 0 ? await readOriginalBodies(database, accountId, compared) : new Map();
  const prints = new Map<string, string>();
  let isOver = await slicer.next(accountId);
  const fingerprintOf = async (body: Buffer) => {
    if (isOver()) isOver = await slicer.next(accountId);
    return fingerprint(accountId, body);
  };
  for (const [receiptId, body] of bodies) prints.set(receiptId, await fingerprintOf(body));
  const mismatched: Mismatched[] = [];
  for (const { one, originalId, isResend } of differing) {
    const { receipt } = one;
    const content = await fingerprintOf(receipt.body);
    // Of a body that was erased meanwhile nobody knows whether it was the same.
    if (isResend && (prints.get(originalId) ?? content) === content) answerReplay(deps, one, originalId);
    else {
      const idempotencyKey = contentKey(receipt.idempotencyKey as string, content);
      mismatched.push({ one, mismatch: { ...receipt, idempotencyKey, originalId, isResend } });
    }
  }
  return mismatched;
}

/** Stores those that are not stored yet, and answers all. */
export async function keepMismatched(
  deps: ReplayDeps,
  accountId: number,
  mismatched: readonly Mismatched[],
): Promise<void> {
  if (mismatched.length === 0) return;
  const { database, graceMs, metrics } = deps;
  const batchId = randomUUIDv7();
  const mismatches = mismatched.map(({ mismatch }) => mismatch);
  let stored: Set<string>;
  try {
    stored = await keepMismatches(database, batchId, graceMs, mismatches);
  } catch (error) {
    if (mismatched.length === 1 || faultOf(error) !== 'receipt') throw error;
    // One row that Postgres refuses must not cost its neighbours their place.
    for (const one of mismatched) await keepMismatched(deps, accountId, [one]).catch((fault) => one.one.reject(fault));
    return;
  }
  metrics.receipts.inc({ outcome: 'kept' }, stored.size);
  const isNew = ({ mismatch }: Mismatched) => stored.has(mismatch.receiptId);
  wake(
    deps.producer,
    batchId,
    mismatched.filter((one) => one.mismatch.isResend && isNew(one)),
  );
  const before = mismatched.filter((one) => !isNew(one)).map(({ mismatch }) => mismatch.idempotencyKey);
  const known = before.length > 0 ? await findReceiptsByKeys(database, accountId, before) : new Map<string, string>();
  for (const each of mismatched) {
    const { one, mismatch } = each;
    const receiptId = isNew(each) ? mismatch.receiptId : known.get(mismatch.idempotencyKey);
    if (receiptId !== undefined) {
      answerReplay(deps, one, mismatch.originalId, { receiptId, as: mismatch.isResend ? 'resend' : 'dead' });
    } else {
      // The key of the content was removed between the two statements, which is past the time of both keys.
      deps.record(one);
    }
  }
}

function wake(producer: Producer, batchId: string, stored: readonly Mismatched[]): void {
  const [first] = stored;
  if (!first) return;
  const wakeUp = wakeUpFor(
    batchId,
    stored.map(({ one }) => one),
  );
  setImmediate(() => producer.wakeUp(first.one.lane, wakeUp));
}
