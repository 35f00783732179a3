import { randomUUID } from 'node:crypto';
import {
  type ClaimedReceipt,
  claimAlone,
  claimReceipts,
  type Database,
  findSuspects,
  isDamage,
  settleBatch,
} from '@orders/database';
import type { WakeUp } from '@orders/queue';
import { chunkBySize, type Tracing, typeOf, withSpan } from '@orders/runtime';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import type { Lease } from './lease.ts';
import type { LeaseReleaser } from './lease-releaser.ts';
import { normalizeClaimed } from './normalize-claimed.ts';
import type { RecordFailure } from './record-failure.ts';
import { type BatchTrace, traceBatch } from './trace-batch.ts';
import type { WriteBatch } from './write-batch.ts';

/**
 * Bodies processed at once, in bytes, or a single one: an order of very many items takes fifty times its body in memory, and the
 * statement that writes it as much again. Three hundred orders of a usual length are less.
 */
const PART_BYTES = 2 ** 20;
/** A receipt that was alone in this many workers that died is not tried again. */
const MAX_CRASHES_ALONE = 3;

interface ProcessDeps {
  database: Database;
  writeBatch: WriteBatch;
  recordFailure: RecordFailure;
  leaseReleaser: LeaseReleaser;
  /** Told of a receipt that ended `dead` because its workers died. */
  onCrashedOut: (lease: Lease, receiptId: string) => void;
  tracing: Tracing | null;
  leaseMs: number;
  sweepAfterMs: number;
}

type Claim = (lease: Lease, receiptIds: readonly string[], readsBodies: boolean) => Promise<ClaimedReceipt[]>;

/**
 * Processes wake-ups: claims the receipts that are free, normalizes and writes them, and removes what is settled from the outbox. Receipts
 * whose worker died before are then taken one by one, so that one that kills its worker is alone when it does.
 *
 * @throws when infrastructure fails; the wake-ups come back, and no receipt has lost an attempt.
 */
export function processBatch(deps: ProcessDeps): (wakeUps: WakeUp[]) => Promise<void> {
  const { database, leaseReleaser, leaseMs, sweepAfterMs } = deps;

  const claimTogether: Claim = (lease, receiptIds, readsBodies) =>
    claimReceipts(database, receiptIds, lease.id, leaseMs, readsBodies);

  const claimSuspect: Claim = async (lease, [receiptId = ''], readsBodies) => {
    const claimed = await claimAlone(database, receiptId, lease.id, leaseMs, MAX_CRASHES_ALONE, readsBodies);
    if (claimed === 'dead') deps.onCrashedOut(lease, receiptId);
    return claimed === null || claimed === 'dead' ? [] : [claimed];
  };

  /**
   * Claims receipts and processes what was claimed. After any failure they are given back, as a claim may have been made although its
   * reply was lost. Where a body cannot be read, the claim is made again by halves; the receipt that is left is claimed without its body,
   * so that reading it fails under a lease and counts as an attempt.
   *
   * @returns how many were claimed, 0 after a failed claim; and how many moved if a single statement moved them, else 0.
   */
  async function process(
    { wakeUps, trace }: Pick<Lease, 'wakeUps' | 'trace'>,
    receiptIds: readonly string[],
    claim: Claim,
    readsBodies = true,
  ): Promise<{ claimed: number; moved: number }> {
    const lease = { id: randomUUID(), wakeUps, trace };
    let claimed: ClaimedReceipt[];
    try {
      claimed = await withSpan(trace?.begin('claim', receiptIds.length), () => claim(lease, receiptIds, readsBodies));
    } catch (error) {
      leaseReleaser.release(lease.id, receiptIds);
      await isolateFailure(database, receiptIds, error, {
        each: (part) => process(lease, part, claim, readsBodies),
        async alone(receiptId) {
          if (!readsBodies || !isDamage(error)) throw error;
          await process(lease, [receiptId], claim, false);
        },
      });
      return { claimed: 0, moved: 0 };
    }
    try {
      return { claimed: claimed.length, moved: await writeInParts(lease, claimed) };
    } catch (error) {
      leaseReleaser.release(lease.id, receiptIds);
      throw error;
    }
  }

  /** @returns how many receipts moved if a single statement moved them; else 0. */
  async function writeInParts(lease: Lease, claimed: readonly ClaimedReceipt[]): Promise<number> {
    // In their order, so that of several orders with one key the first received is still written first.
    const parts = chunkBySize(claimed, ({ body }) => body?.length ?? 0, { size: PART_BYTES });
    let moved = 0;
    for (const part of parts) {
      const writable = await withSpan(lease.trace?.begin('normalize', part.length), () =>
        normalizeClaimed(lease, part, deps),
      );
      moved = await deps.writeBatch(lease, writable);
    }
    return parts.length > 1 ? 0 : moved;
  }

  async function processAll(wakeUps: WakeUp[], trace: BatchTrace | null): Promise<void> {
    const receiptIds = [...new Set(wakeUps.flatMap((wakeUp) => wakeUp.receiptIds))];
    const source = { wakeUps, trace };
    const { claimed, moved } = await process(source, receiptIds, claimTogether);
    // A single statement that moved all of them has removed their outbox rows too.
    if (moved === receiptIds.length) return;
    if (claimed < receiptIds.length) {
      const suspects = await findSuspects(database, receiptIds);
      await tryEach(suspects, (suspect) => process(source, [suspect], claimSuspect));
    }
    for (const batchId of new Set(wakeUps.map((wakeUp) => wakeUp.batchId))) {
      await settleBatch(database, batchId, sweepAfterMs);
    }
  }

  return async (wakeUps) => {
    const trace = traceBatch(deps.tracing, wakeUps);
    try {
      await processAll(wakeUps, trace);
      trace?.end();
    } catch (error) {
      trace?.end(typeOf(error));
      throw error;
    }
  };
}
