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
import { chunkBySize, errorTypeOf, type Tracing, withSpan } from '@orders/runtime';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import type { Lease } from './lease.ts';
import type { LeaseReleaser } from './lease-releaser.ts';
import { normalizeClaimed } from './normalize-claimed.ts';
import type { RecordFailure } from './record-failure.ts';
import { type BatchTrace, traceBatch } from './trace-batch.ts';
import type { WriteBatch } from './write-batch.ts';

/**
 * Max bytes of the bodies per chunk, unless a single body is larger. An order with very many items takes fifty times its body in memory,
 * and the statement that writes it takes as much again. 300 orders of usual length stay below the limit.
 */
const CHUNK_BYTES = 2 ** 20;
/** A receipt that is processed alone becomes dead after this many crashes of its worker. */
const MAX_CRASHES_ALONE = 3;

interface ProcessDeps {
  database: Database;
  writeBatch: WriteBatch;
  recordFailure: RecordFailure;
  leaseReleaser: LeaseReleaser;
  /** Called for a receipt that is now `dead` because of `MAX_CRASHES_ALONE`. */
  onCrashLimit: (lease: Lease, receiptId: string) => void;
  tracing: Tracing | null;
  leaseMs: number;
  sweepAfterMs: number;
}

/** Claims those receipts that are available. @param readsBodies false claims them without their bodies, which may be unreadable. */
type Claim = (lease: Lease, receiptIds: readonly string[], readsBodies: boolean) => Promise<ClaimedReceipt[]>;

/**
 * Processes wake-ups: claims the available receipts, normalizes and writes them, and settles their batches. Suspects, receipts whose worker
 * crashed before, are then processed one by one, so that another crash shows which receipt is the cause.
 *
 * @throws when infrastructure fails; the wake-ups are retried, and no receipt has lost an attempt.
 */
export function processBatch(deps: ProcessDeps): (wakeUps: WakeUp[]) => Promise<void> {
  const { database, leaseReleaser, leaseMs, sweepAfterMs } = deps;

  const claimTogether: Claim = (lease, receiptIds, readsBodies) =>
    claimReceipts(database, receiptIds, lease.id, leaseMs, readsBodies);

  const claimSuspect: Claim = async (lease, [receiptId = ''], readsBodies) => {
    const claimed = await claimAlone(database, receiptId, lease.id, leaseMs, MAX_CRASHES_ALONE, readsBodies);
    if (claimed === 'dead') deps.onCrashLimit(lease, receiptId);
    return claimed === null || claimed === 'dead' ? [] : [claimed];
  };

  /**
   * Claims receipts and writes their orders. After any failure it releases them, as the claim may have succeeded although its reply was
   * lost. If a claim fails because a body is unreadable, the batch is bisected until the damaged receipt is alone. That receipt is claimed
   * without its body, so that reading the body fails later, under a lease, and counts as a failed attempt.
   *
   * @returns `claimed`: the number of claimed receipts, 0 after a failed claim; `moved`: the result of `writeInChunks`.
   */
  async function claimAndWrite(
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
        retryHalf: (half) => claimAndWrite(lease, half, claim, readsBodies),
        async handleSingle(receiptId) {
          if (!readsBodies || !isDamage(error)) throw error;
          await claimAndWrite(lease, [receiptId], claim, false);
        },
      });
      return { claimed: 0, moved: 0 };
    }
    try {
      return { claimed: claimed.length, moved: await writeInChunks(lease, claimed) };
    } catch (error) {
      leaseReleaser.release(lease.id, receiptIds);
      throw error;
    }
  }

  /** @returns like `WriteBatch`; 0 if there were several chunks. */
  async function writeInChunks(lease: Lease, claimed: readonly ClaimedReceipt[]): Promise<number> {
    // Chunks keep the order: of several orders with the same source_order_id, the first received must be written first.
    const chunks = chunkBySize(claimed, ({ body }) => body?.length ?? 0, { size: CHUNK_BYTES });
    let moved = 0;
    for (const chunk of chunks) {
      const writable = await withSpan(lease.trace?.begin('normalize', chunk.length), () =>
        normalizeClaimed(lease, chunk, deps),
      );
      moved = await deps.writeBatch(lease, writable);
    }
    return chunks.length > 1 ? 0 : moved;
  }

  async function processAll(wakeUps: WakeUp[], trace: BatchTrace | null): Promise<void> {
    const receiptIds = [...new Set(wakeUps.flatMap((wakeUp) => wakeUp.receiptIds))];
    const { claimed, moved } = await claimAndWrite({ wakeUps, trace }, receiptIds, claimTogether);
    // `writeBatch` has deleted the outbox rows.
    if (moved === receiptIds.length) return;
    if (claimed < receiptIds.length) {
      const suspects = await findSuspects(database, receiptIds);
      await tryEach(suspects, (suspect) => claimAndWrite({ wakeUps, trace }, [suspect], claimSuspect));
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
      trace?.end(errorTypeOf(error));
      throw error;
    }
  };
}
