import type { Database } from '@orders/database/connect.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import type { TimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { IntakeMetrics } from '../observability/metrics.ts';
import { findOriginals, readOriginalBodies } from './find-originals.ts';
import { contentKey, deleteIdempotencyKey, type Mismatch } from './store-mismatches.ts';
import type { StoredMismatch, WaitingReceipt } from './waiting-receipt.ts';

export interface ReplayDeps {
  database: Database;
  producer: Producer;
  graceMs: number;
  fingerprint: (accountId: number, body: Buffer) => string | Promise<string>;
  /** For short bodies, which are fingerprinted on the event loop. */
  slicer: TimeSlicer;
  metrics: Pick<IntakeMetrics, 'receipts'>;
  /** Records a delivery again after its idempotency key was removed. */
  recordAgain: (delivery: WaitingReceipt) => void;
}

/** A replay whose bytes differ from those of its original. */
export interface DifferingReplay {
  delivery: WaitingReceipt;
  originalId: string;
  originalLength: number;
  /** Whether it has the same `source_order_id` as the original. */
  isSameOrder: boolean;
}

/** A replay whose content differs from that of its original. */
export interface MismatchedReplay {
  delivery: WaitingReceipt;
  mismatch: Mismatch;
}

/** Resolves a replay with its original receipt. @param kept the receipt of the replay's content, if it differs from the original's. */
export function resolveReplay(
  { metrics }: ReplayDeps,
  replay: WaitingReceipt,
  originalId: string,
  kept?: StoredMismatch,
): void {
  metrics.receipts.inc({ outcome: 'replayed' });
  replay.resolve({
    receiptId: originalId,
    duplicate: true,
    payloadMismatch: kept !== undefined,
    ...(kept && { kept }),
  });
}

/** Resolves the replays that are byte for byte equal to their originals; Postgres compares them. @returns the others. */
export async function compareBytes(
  deps: ReplayDeps,
  accountId: number,
  replays: readonly WaitingReceipt[],
): Promise<DifferingReplay[]> {
  const { database, recordAgain } = deps;
  const keys = replays.map(({ receipt }) => receipt.idempotencyKey as string);
  const originals = await findOriginals(
    database,
    replays.map(({ receipt }, index) => ({ accountId, idempotencyKey: keys[index] as string, body: receipt.body })),
  );
  const differing: DifferingReplay[] = [];
  for (const [index, delivery] of replays.entries()) {
    const original = originals[index];
    // The key was removed meanwhile.
    if (!original) {
      recordAgain(delivery);
      continue;
    }
    const { receiptId: originalId, sourceOrderId, bodyLength: originalLength, isSame } = original;
    // The receipt was dropped before its key expired.
    if (sourceOrderId === null) {
      await deleteIdempotencyKey(database, accountId, keys[index] as string, originalId);
      recordAgain(delivery);
      continue;
    }
    const isSameOrder = sourceOrderId === delivery.receipt.sourceOrderId;
    // `isSame` is null if the original's body was erased. Then the same order counts as identical, and another one as differing.
    if (isSame ?? isSameOrder) resolveReplay(deps, delivery, originalId);
    else differing.push({ delivery, originalId, originalLength, isSameOrder });
  }
  return differing;
}

/** Resolves the replays that have the same content as their originals, only in other bytes. @returns the others. */
export async function compareContent(
  deps: ReplayDeps,
  accountId: number,
  differing: readonly DifferingReplay[],
): Promise<MismatchedReplay[]> {
  const { database, slicer, fingerprint } = deps;
  // A replay with another `source_order_id` certainly has other content.
  const originalIds = differing.flatMap(({ originalId, isSameOrder }) => (isSameOrder ? originalId : []));
  const bodies = originalIds.length > 0 ? await readOriginalBodies(database, accountId, originalIds) : new Map();
  let isSliceOver = await slicer.next(accountId);
  const fingerprintOf = async (body: Buffer) => {
    if (isSliceOver()) isSliceOver = await slicer.next(accountId);
    return fingerprint(accountId, body);
  };
  const fingerprints = new Map<string, string>();
  for (const [receiptId, body] of bodies) fingerprints.set(receiptId, await fingerprintOf(body));
  const mismatched: MismatchedReplay[] = [];
  for (const { delivery, originalId, isSameOrder } of differing) {
    const { receipt } = delivery;
    const content = await fingerprintOf(receipt.body);
    // If the original's body was erased meanwhile, the same order counts as identical.
    if (isSameOrder && (fingerprints.get(originalId) ?? content) === content) resolveReplay(deps, delivery, originalId);
    else {
      const idempotencyKey = contentKey(receipt.idempotencyKey as string, content);
      mismatched.push({ delivery, mismatch: { ...receipt, idempotencyKey, originalId, isSameOrder } });
    }
  }
  return mismatched;
}
