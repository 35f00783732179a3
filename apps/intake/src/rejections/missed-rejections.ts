import type { Database } from '@orders/database/connect.ts';
import { addMissedRejections } from './record-rejected.ts';
import type { RejectionBudget } from './rejection-budget.ts';

/**
 * A rejection without a row is called missed: it is only counted, usually because it exceeds the rate. The account's next row stores the
 * count. If no row follows, the count is added here to the account's newest row.
 */
export interface MissedRejections {
  /** Schedules a write of the counts of quiet accounts. Returns immediately and never fails. */
  schedule(): void;
  /** Writes all remaining counts. Never fails. */
  close(): Promise<void>;
}

/** An account is quiet after this long without a new row. While more is rejected, its next row comes sooner and stores the count. */
const QUIET_MS = 2000;

/** @param deps.hasPendingRows whether rows wait to be written: the count belongs to the newest of them. */
export function createMissedRejections(deps: {
  database: Database;
  budget: RejectionBudget;
  hasPendingRows: () => boolean;
}): MissedRejections {
  const { database, budget, hasPendingRows } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isScheduledAgain = false;
  let isClosed = false;

  function startTimer(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      running = run();
    }, QUIET_MS).unref();
  }

  async function run(): Promise<void> {
    isScheduledAgain = false;
    const isComplete = !hasPendingRows() && (await writeCounts(QUIET_MS));
    timer = undefined;
    if (isScheduledAgain || !isComplete) startTimer();
  }

  /** @returns false if a write failed or an account was not quiet yet; the caller then tries again later. */
  async function writeCounts(quietMs: number): Promise<boolean> {
    const counts = budget.takeMissed(quietMs);
    const hasNoneLeft = !budget.hasMissed();
    if (counts.length === 0) return hasNoneLeft;
    try {
      const written = await addMissedRejections(database, counts);
      // An account without a row keeps its count for its first one.
      for (const { accountId, missed } of counts) if (!written.has(accountId)) budget.returnMissed(accountId, missed);
      return hasNoneLeft;
    } catch {
      // If the commit did happen, these are counted twice. That misleads less than losing them.
      for (const { accountId, missed } of counts) budget.returnMissed(accountId, missed);
      return false;
    }
  }

  return {
    schedule() {
      isScheduledAgain = true;
      startTimer();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await writeCounts(0);
    },
  };
}
