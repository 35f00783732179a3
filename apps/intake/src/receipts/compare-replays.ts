import {
  contentKey,
  type Database,
  findOriginals,
  forgetKey,
  type Mismatch,
  readOriginalBodies,
} from '@orders/database';
import type { Producer } from '@orders/queue';
import type { TimeSlicer } from '@orders/runtime';
import type { IntakeMetrics } from '../observability/metrics.ts';
import type { Kept, WaitingReceipt } from './waiting-receipt.ts';

export interface ReplayDeps {
  database: Database;
  producer: Producer;
  graceMs: number;
  fingerprint: (accountId: number, body: Buffer) => string | Promise<string>;
  /** For short bodies, which are fingerprinted on the event loop. */
  slicer: TimeSlicer;
  metrics: Pick<IntakeMetrics, 'receipts'>;
  /** Records a delivery whose idempotency key is free after all. */
  recordAgain: (delivery: WaitingReceipt) => void;
}

/** A replay whose bytes differ from those of its original. */
export interface Differing {
  delivery: WaitingReceipt;
  originalId: string;
  originalLength: number;
  /** Whether it has the same `source_order_id` as the original. */
  isResend: boolean;
}

/** A replay whose content differs from that of its original. */
export interface Mismatched {
  delivery: WaitingReceipt;
  mismatch: Mismatch;
}

/** Resolves a replay with its original receipt. @param kept the replay's own receipt, if its content differs. */
export function resolveReplay({ metrics }: ReplayDeps, replay: WaitingReceipt, originalId: string, kept?: Kept): void {
  metrics.receipts.inc({ outcome: 'replayed' });
  replay.resolve({
    receiptId: originalId,
    duplicate: true,
    payloadMismatch: kept !== undefined,
    ...(kept && { kept }),
  });
}

/** Resolves the replays that have the bytes of their originals, which Postgres compares. @returns the others. */
export async function compareBytes(
  deps: ReplayDeps,
  accountId: number,
  replays: readonly WaitingReceipt[],
): Promise<Differing[]> {
  const { database, recordAgain } = deps;
  const keys = replays.map(({ receipt }) => receipt.idempotencyKey as string);
  const originals = await findOriginals(
    database,
    replays.map(({ receipt }, index) => ({ accountId, idempotencyKey: keys[index] as string, body: receipt.body })),
  );
  const differing: Differing[] = [];
  for (const [index, delivery] of replays.entries()) {
    const original = originals[index];
    // The key was deleted meanwhile.
    if (!original) {
      recordAgain(delivery);
      continue;
    }
    const { receiptId: originalId, sourceOrderId, bodyLength: originalLength, isSame } = original;
    // The key has outlived its receipt.
    if (sourceOrderId === null) {
      await forgetKey(database, accountId, keys[index] as string, originalId);
      recordAgain(delivery);
      continue;
    }
    const isResend = sourceOrderId === delivery.receipt.sourceOrderId;
    // `isSame` is null if the original's body was erased. Then a resend counts as identical, and another order as differing.
    if (isSame ?? isResend) resolveReplay(deps, delivery, originalId);
    else differing.push({ delivery, originalId, originalLength, isResend });
  }
  return differing;
}

/** Resolves the replays that have the content of their originals in other bytes. @returns the others. */
export async function compareContent(
  deps: ReplayDeps,
  accountId: number,
  differing: readonly Differing[],
): Promise<Mismatched[]> {
  const { database, slicer, fingerprint } = deps;
  const compared = differing.flatMap(({ originalId, isResend }) => (isResend ? originalId : []));
  const bodies = compared.length > 0 ? await readOriginalBodies(database, accountId, compared) : new Map();
  let isSliceOver = await slicer.next(accountId);
  const fingerprintOf = async (body: Buffer) => {
    if (isSliceOver()) isSliceOver = await slicer.next(accountId);
    return fingerprint(accountId, body);
  };
  const originals = new Map<string, string>();
  for (const [receiptId, body] of bodies) originals.set(receiptId, await fingerprintOf(body));
  const mismatched: Mismatched[] = [];
  for (const { delivery, originalId, isResend } of differing) {
    const { receipt } = delivery;
    const content = await fingerprintOf(receipt.body);
    // If the original's body was erased meanwhile, a resend counts as identical.
    if (isResend && (originals.get(originalId) ?? content) === content) resolveReplay(deps, delivery, originalId);
    else {
      const idempotencyKey = contentKey(receipt.idempotencyKey as string, content);
      mismatched.push({ delivery, mismatch: { ...receipt, idempotencyKey, originalId, isResend } });
    }
  }
  return mismatched;
}
