import { type Database, type FinalReceipt, findFinalReceipts, findReceipt, type ReceiptRow } from '@orders/database';
import type { ReceiptState } from '@orders/domain';
import { type Counter, createFairQueue } from '@orders/runtime';
import type { ReadReplica } from './read-replica.ts';

/** Looks receipts up where that is cheapest and the answer still right; docs/decisions/017-read-replica.md. */
export interface ReceiptReader {
  /** A receipt of this account as it is now. */
  find(accountId: number, receiptId: string): Promise<ReceiptRow | null>;
  /** Those of the given receipts that are known to be in a final state; one that became so in the last half second may be missing. */
  findFinal(receiptIds: readonly string[]): Promise<FinalReceipt[]>;
}

interface Sources {
  primary: Database;
  replica: ReadReplica | null;
  lookups: Counter<'answered_by'>;
}

/** How much later than without a replica somebody who waits may learn the outcome, however far the replica is behind. */
const PRIMARY_EVERY_MS = 500;

/** Max concurrent look-ups on the primary, accounts in rotation: most connections of the pool are for recording orders. */
const MAX_CONCURRENT_LOOKUPS = 4;

/**
 * A reader that prefers the replica, if there is one. What that shows is believed only where it cannot change any more; the primary has
 * the last word, for those who wait at most every half second.
 */
export function createReceiptReader({ primary, replica, lookups }: Sources): ReceiptReader {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_LOOKUPS);
  let primaryAskedAt = Number.NEGATIVE_INFINITY;

  return {
    async find(accountId, receiptId) {
      const copy = await replica?.ask((database) => findReceipt(database, accountId, receiptId));
      const answered = copy && staysAsItIs(copy);
      lookups.inc({ answered_by: answered ? 'replica' : 'primary' });
      return answered ? copy : runFairly(accountId, () => findReceipt(primary, accountId, receiptId));
    },
    async findFinal(receiptIds) {
      if (performance.now() - primaryAskedAt < PRIMARY_EVERY_MS) {
        const copies = await replica?.ask((database) => findFinalReceipts(database, receiptIds));
        if (copies) return copies.filter(staysAsItIs);
      }
      primaryAskedAt = performance.now();
      return findFinalReceipts(primary, receiptIds);
    },
  };
}

/** No receipt leaves these states, so a copy from any moment is right. A `dead` one may have been redriven since; one that is missing may be too new. */
function staysAsItIs({ state }: { state: ReceiptState }): boolean {
  return state === 'written' || state === 'duplicate';
}
