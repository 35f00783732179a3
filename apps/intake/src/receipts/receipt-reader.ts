import type { Database } from '@orders/database/connect.ts';
import {
  type FinalReceipt,
  findFinalReceipts,
  findReceipt,
  type ReceiptRow,
} from '@orders/database/receipts/find-receipt.ts';
import type { ReceiptState } from '@orders/domain/receipt-states.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Counter } from '@orders/runtime/observability/metrics.ts';
import type { ReadReplica } from './read-replica.ts';

/** Reads receipts from the replica where its copy is certainly current, else from the primary (docs/decisions/storage-and-retention.md). */
export interface ReceiptReader {
  /** The current state of a receipt of this account. */
  find(accountId: number, receiptId: string): Promise<ReceiptRow | null>;
  /** The given receipts that are in a final state; one that became final in the last half second may be missing. */
  findFinal(receiptIds: readonly string[]): Promise<FinalReceipt[]>;
}

interface Sources {
  primary: Database;
  replica: ReadReplica | null;
  lookups: Counter<'answered_by'>;
}

/** Max extra delay of an outcome due to the replica, however far it lags. */
const PRIMARY_POLL_INTERVAL_MS = 500;

/** Max concurrent look-ups on the primary, accounts in rotation: most connections of the pool are for recording orders. */
const MAX_CONCURRENT_LOOKUPS = 4;

/**
 * A reader that prefers the replica, if there is one, but trusts it only for states that cannot change. Everything else comes from the
 * primary, which is polled for waiters at most every half second.
 */
export function createReceiptReader({ primary, replica, lookups }: Sources): ReceiptReader {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_LOOKUPS);
  let primaryQueriedAt = Number.NEGATIVE_INFINITY;

  return {
    async find(accountId, receiptId) {
      const copy = await replica?.query((database) => findReceipt(database, accountId, receiptId));
      const isFinalCopy = copy && isImmutable(copy);
      lookups.inc({ answered_by: isFinalCopy ? 'replica' : 'primary' });
      return isFinalCopy ? copy : runFairly(accountId, () => findReceipt(primary, accountId, receiptId));
    },
    async findFinal(receiptIds) {
      if (performance.now() - primaryQueriedAt < PRIMARY_POLL_INTERVAL_MS) {
        const copies = await replica?.query((database) => findFinalReceipts(database, receiptIds));
        if (copies) return copies.filter(isImmutable);
      }
      primaryQueriedAt = performance.now();
      return findFinalReceipts(primary, receiptIds);
    },
  };
}

/** No receipt leaves these states, so any copy is current. A `dead` one may have been redriven, and a missing one may be too new. */
function isImmutable({ state }: { state: ReceiptState }): boolean {
  return state === 'written' || state === 'duplicate';
}
