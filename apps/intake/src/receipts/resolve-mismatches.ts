import { randomUUIDv7 } from 'node:crypto';
import {
  contentKey,
  type Database,
  faultOf,
  findReceiptsByKeys,
  type Mismatch,
  readOriginalBodies,
  storeMismatches,
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
  /** For short bodies, which are fingerprinted on the event loop. */
  slicer: TimeSlicer;
  metrics: Pick<IntakeMetrics, 'receipts'>;
  /** Records a delivery whose key turned out to be free. */
  record: (delivery: WaitingReceipt) => void;
}

/** A delivery whose bytes differ from those of the original receipt, the first with its key. */
export interface Differing {
  delivery: WaitingReceipt;
  originalId: string;
  originalLength: number;
  /** Whether it has the same `source_order_id` as the original. */
  isResend: boolean;
}

interface Mismatched {
  delivery: WaitingReceipt;
  mismatch: Mismatch;
}

/** Resolves a delivery with the original receipt. */
export function resolveReplay({ metrics }: ReplayDeps, delivery: WaitingReceipt, receiptId: string, kept?: Kept): void {
  metrics.receipts.inc({ outcome: 'replayed' });
  delivery.resolve({ receiptId, duplicate: true, payloadMismatch: kept !== undefined, ...(kept && { kept }) });
}

/** Resolves deliveries with the same content in other bytes. @returns the rest. */
export async function splitByContent(
  deps: ReplayDeps,
  accountId: number,
  differing: readonly Differing[],
): Promise<Mismatched[]> {
  const { database, slicer, fingerprint } = deps;
  const compared = differing.flatMap(({ originalId, isResend }) => (isResend ? originalId : []));
  const bodies = compared.length > 0 ? await readOriginalBodies(database, accountId, compared) : new Map();
  const fingerprints = new Map<string, string>();
  let isSliceOver = await slicer.next(accountId);
  const fingerprintOf = async (body: Buffer) => {
    if (isSliceOver()) isSliceOver = await slicer.next(accountId);
    return fingerprint(accountId, body);
  };
  for (const [receiptId, body] of bodies) fingerprints.set(receiptId, await fingerprintOf(body));
  const mismatched: Mismatched[] = [];
  for (const { delivery, originalId, isResend } of differing) {
    const { receipt } = delivery;
    const content = await fingerprintOf(receipt.body);
    // The original's body may have been erased meanwhile; then the content is taken as equal.
    if (isResend && (fingerprints.get(originalId) ?? content) === content) resolveReplay(deps, delivery, originalId);
    else {
      const idempotencyKey = contentKey(receipt.idempotencyKey as string, content);
      mismatched.push({ delivery, mismatch: { ...receipt, idempotencyKey, originalId, isResend } });
    }
  }
  return mismatched;
}

/** Stores mismatched deliveries that are not stored yet, and resolves all of them. */
export async function storeAndResolveMismatches(
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
    stored = await storeMismatches(database, batchId, graceMs, mismatches);
  } catch (error) {
    if (mismatched.length === 1 || faultOf(error) !== 'receipt') throw error;
    // A row that Postgres rejects must not fail the others.
    for (const single of mismatched) {
      await storeAndResolveMismatches(deps, accountId, [single]).catch((fault) => single.delivery.reject(fault));
    }
    return;
  }
  metrics.receipts.inc({ outcome: 'kept' }, stored.size);
  const isNew = ({ mismatch }: Mismatched) => stored.has(mismatch.receiptId);
  wake(
    deps.producer,
    batchId,
    mismatched.filter((each) => each.mismatch.isResend && isNew(each)),
  );
  const before = mismatched.filter((each) => !isNew(each)).map(({ mismatch }) => mismatch.idempotencyKey);
  const known = before.length > 0 ? await findReceiptsByKeys(database, accountId, before) : new Map<string, string>();
  for (const each of mismatched) {
    const { delivery, mismatch } = each;
    const receiptId = isNew(each) ? mismatch.receiptId : known.get(mismatch.idempotencyKey);
    if (receiptId !== undefined) {
      resolveReplay(deps, delivery, mismatch.originalId, { receiptId, as: mismatch.isResend ? 'resend' : 'dead' });
    } else {
      // The content's key expired between the two statements, and so did the idempotency key.
      deps.record(delivery);
    }
  }
}

function wake(producer: Producer, batchId: string, stored: readonly Mismatched[]): void {
  const [first] = stored;
  if (!first) return;
  const wakeUp = wakeUpFor(
    batchId,
    stored.map(({ delivery }) => delivery),
  );
  setImmediate(() => producer.wakeUp(first.delivery.lane, wakeUp));
}
