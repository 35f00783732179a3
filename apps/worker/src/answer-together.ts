import { randomUUID } from 'node:crypto';
import {
  type ClaimedReceipt,
  claimAlone,
  claimReceipts,
  type Database,
  findSuspects,
  settleBatch,
} from '@orders/database';
import type { Ring } from '@orders/queue';
import { inParts, spanned, type Tracing, typeOf } from '@orders/runtime';
import type { FailAttempt } from './fail-attempt.ts';
import type { Lease } from './lease.ts';
import type { LeaseReturns } from './lease-returns.ts';
import { normalizeClaimed } from './normalize-claimed.ts';
import { type BatchTrace, traceBatch } from './trace-batch.ts';
import type { WriteBatch } from './write-batch.ts';

/**
 * Bodies worked on at once, in bytes, or a single one: what an order of very many items becomes takes fifty times its body, and the
 * statement that writes it as much again. Three hundred orders of a usual length are less.
 */
const PART_BYTES = 2 ** 20;
/** A receipt that was alone in so many workers that died is not tried again. */
const MAX_CRASHES_ALONE = 3;

interface AnswerDeps {
  database: Database;
  writeBatch: WriteBatch;
  failAttempt: FailAttempt;
  leaseReturns: LeaseReturns;
  /** Told of a receipt that ended `dead` because its workers died. */
  onCrashedOut: (lease: Lease, receiptId: string) => void;
  tracing: Tracing | null;
  leaseMs: number;
  sweepAfterMs: number;
}

/**
 * Answers rings: claims the receipts that are free, normalizes and writes them, and strikes what is settled off the outbox. Receipts
 * whose worker died before are then taken one by one, so that whatever kills a worker is alone when it does.
 *
 * @throws when infrastructure fails; the rings come back, and no receipt has lost an attempt.
 */
export function answerTogether(deps: AnswerDeps): (rings: Ring[]) => Promise<void> {
  const { database, leaseMs, sweepAfterMs } = deps;

  /**
   * Claims, and works on what was claimed. Whatever goes wrong, even the reply to a claim that was lost, the receipts are given back.
   *
   * @returns how many were claimed, and how many moved if by a single statement.
   */
  async function work(
    lease: Lease,
    receiptIds: string[],
    claim: () => Promise<ClaimedReceipt[]>,
  ): Promise<{ claimed: number; moved: number }> {
    try {
      const claimed = await spanned(lease.trace?.begin('claim', receiptIds.length), claim);
      // In their order, so that of the orders of one key the first received is still written first.
      const parts = inParts(claimed, ({ body }) => body?.length ?? 0, { size: PART_BYTES });
      let moved = 0;
      for (const part of parts) {
        const writable = await spanned(lease.trace?.begin('normalize', part.length), () =>
          normalizeClaimed(lease, part, deps),
        );
        moved = await deps.writeBatch(lease, writable);
      }
      return { claimed: claimed.length, moved: parts.length > 1 ? 0 : moved };
    } catch (error) {
      deps.leaseReturns.giveBack(lease.id, receiptIds);
      throw error;
    }
  }

  async function workAlone(rings: Ring[], receiptId: string, trace: BatchTrace | null): Promise<void> {
    const lease = { id: randomUUID(), rings, trace };
    await work(lease, [receiptId], async () => {
      const claimed = await claimAlone(database, receiptId, lease.id, leaseMs, MAX_CRASHES_ALONE);
      if (claimed === 'dead') deps.onCrashedOut(lease, receiptId);
      return claimed === null || claimed === 'dead' ? [] : [claimed];
    });
  }

  async function answer(rings: Ring[], trace: BatchTrace | null): Promise<void> {
    const receiptIds = [...new Set(rings.flatMap((ring) => ring.receiptIds))];
    const lease = { id: randomUUID(), rings, trace };
    const done = await work(lease, receiptIds, () => claimReceipts(database, receiptIds, lease.id, leaseMs));
    // All of them in one statement took their promises in the outbox along.
    if (done.moved === receiptIds.length) return;
    if (done.claimed < receiptIds.length) {
      for (const suspect of await findSuspects(database, receiptIds)) await workAlone(rings, suspect, trace);
    }
    for (const batchId of new Set(rings.map((ring) => ring.batchId))) {
      await settleBatch(database, batchId, sweepAfterMs);
    }
  }

  return async (rings) => {
    const trace = traceBatch(deps.tracing, rings);
    try {
      await answer(rings, trace);
      trace?.end();
    } catch (error) {
      trace?.end(typeOf(error));
      throw error;
    }
  };
}
