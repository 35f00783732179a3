import {
  type ClaimedReceipt,
  claimAlone,
  claimReceipts,
  type Database,
  findSuspects,
  settleBatch,
} from '@orders/database';
import type { Ring } from '@orders/queue';
import { v4 as uuid } from 'uuid';
import type { FailAttempt } from './fail-attempt.ts';
import type { Lease } from './lease.ts';
import type { LeaseReturns } from './lease-returns.ts';
import { normalizeClaimed } from './normalize-claimed.ts';
import type { WriteBatch } from './write-batch.ts';

/** A receipt that was alone in so many workers that died is not tried again. */
const MAX_CRASHES_ALONE = 3;

export interface AnswerRingDeps {
  database: Database;
  writeBatch: WriteBatch;
  failAttempt: FailAttempt;
  leaseReturns: LeaseReturns;
  leaseMs: number;
  sweepAfterMs: number;
}

/**
 * Answers one ring: claims the receipts that are free, normalizes and writes them, and strikes what is settled off the outbox. Receipts
 * whose worker died before are then taken one by one, so that whatever kills a worker is alone when it does.
 *
 * @throws when infrastructure fails; the ring comes back, and no receipt has lost an attempt.
 */
export function answerRing(deps: AnswerRingDeps): (ring: Ring) => Promise<void> {
  const { database, leaseMs, sweepAfterMs } = deps;

  /** @returns how many were moved, if by a single statement. */
  async function work(lease: Lease, claimed: ClaimedReceipt[]): Promise<number> {
    if (claimed.length === 0) return 0;
    try {
      return await deps.writeBatch(lease, await normalizeClaimed(lease, claimed, deps.failAttempt));
    } catch (error) {
      deps.leaseReturns.giveBack(
        lease.id,
        claimed.map(({ receiptId }) => receiptId),
      );
      throw error;
    }
  }

  async function workAlone(ring: Ring, receiptId: string): Promise<void> {
    const lease = { id: uuid(), ring };
    const suspect = await claimAlone(database, receiptId, lease.id, leaseMs, MAX_CRASHES_ALONE);
    if (suspect) await work(lease, [suspect]);
  }

  return async (ring) => {
    const lease = { id: uuid(), ring };
    const claimed = await claimReceipts(database, ring.receiptIds, lease.id, leaseMs);
    const moved = await work(lease, claimed);
    // All of them in one statement took the promise in the outbox along.
    if (moved === ring.receiptIds.length) return;
    if (claimed.length < ring.receiptIds.length) {
      for (const suspect of await findSuspects(database, ring.receiptIds)) await workAlone(ring, suspect);
    }
    await settleBatch(database, ring.batchId, sweepAfterMs);
  };
}
