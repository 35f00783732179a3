import { addMissedRejections, type Database } from '@orders/database';
import type { RejectionBudget } from './rejection-budget.ts';

/**
 * Rejections above the rate get no row and are only counted. The account's next row stores the count. If no row follows, this adds the
 * count to the account's newest row.
 */
export interface MissedRejections {
  /** Schedules a write of missed counts, once their accounts have been quiet. Returns immediately and never fails. */
  schedule(): void;
  /** Writes all remaining counts. Never fails. */
  close(): Promise<void>;
}

/** While an account has rejections, it gets up to two rows a second, each with the count so far. So a count is only written here after this pause. */
const QUIET_MS = 2000;

/** @param deps.isWriting whether rows wait to be written: the count belongs to the newest of them. */
export function createMissedRejections(deps: {
  database: Database;
  budget: RejectionBudget;
  isWriting: () => boolean;
}): MissedRejections {
  const { database, budget, isWriting } = deps;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let isWanted = false;
  let isClosed = false;

  function start(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      writing = writeDue();
    }, QUIET_MS).unref();
  }

  async function writeDue(): Promise<void> {
    isWanted = false;
    const isDone = !isWriting() && (await write(QUIET_MS));
    timer = undefined;
    if (isWanted || !isDone) start();
  }

  /** @returns whether nothing is left to retry: no write failed, and no account was skipped because it was not quiet. */
  async function write(quietMs: number): Promise<boolean> {
    const due = budget.takeMissed(quietMs);
    const isAll = !budget.hasMissed();
    if (due.length === 0) return isAll;
    try {
      const written = await addMissedRejections(database, due);
      // An account without a row keeps its count for its first one.
      for (const { accountId, missed } of due) if (!written.has(accountId)) budget.returnMissed(accountId, missed);
      return isAll;
    } catch {
      // If the commit did happen, these are counted twice, which misleads less than not at all.
      for (const { accountId, missed } of due) budget.returnMissed(accountId, missed);
      return false;
    }
  }

  return {
    schedule() {
      isWanted = true;
      start();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await writing;
      await write(0);
    },
  };
}
