import { addMissedRejections, type Database } from '@orders/database';
import type { RejectionBudget } from './rejection-budget.ts';

/**
 * Rejections above the rate are missed: they get no row and are only counted. The account's next row stores the count. If no row follows,
 * the count is added to the account's newest row here.
 */
export interface MissedRejections {
  /** Schedules a write of the counts of quiet accounts. Returns immediately and never fails. */
  schedule(): void;
  /** Writes all remaining counts. Never fails. */
  close(): Promise<void>;
}

/** While an account is rejected, its next row follows within this time and stores the count. */
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

  /** @returns false if a write failed or an account was not quiet; the caller then tries again later. */
  async function writeCounts(quietMs: number): Promise<boolean> {
    const counts = budget.takeMissed(quietMs);
    const areAllQuiet = !budget.hasMissed();
    if (counts.length === 0) return areAllQuiet;
    try {
      const written = await addMissedRejections(database, counts);
      // An account without a row keeps its count for its first one.
      for (const { accountId, missed } of counts) if (!written.has(accountId)) budget.returnMissed(accountId, missed);
      return areAllQuiet;
    } catch {
      // If the commit did happen, these are counted twice, which misleads less than not at all.
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
