import { addMissedRefusals, type Database } from '@orders/database';
import type { RejectionBudget } from './rejection-budget.ts';

/** Adds refusals that were only counted to their account's newest row, where no further row takes their number with it. */
export interface MissedRejections {
  /** Says that some were missed; they are written once their account has been quiet. Takes no time and never fails. */
  schedule(): void;
  /** Writes all that are left. Never fails. */
  close(): Promise<void>;
}

/** An account whose refusals go on has a row twice a second, which takes the number with it. In milliseconds. */
const QUIET_MS = 2000;

/** @param deps.isWriting whether rows wait to be written: the number belongs to the newest of them. */
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

  /** @returns whether there is nothing to try again: none failed, and no account was left out because it is not quiet. */
  async function write(quietMs: number): Promise<boolean> {
    const due = budget.takeMissed(quietMs);
    const isAll = !budget.hasMissed();
    if (due.length === 0) return isAll;
    try {
      const written = await addMissedRefusals(database, due);
      // The first row of an account that has none takes the number with it.
      for (const one of due) if (!written.has(one.accountId)) budget.release(one.accountId, one.missed);
      return isAll;
    } catch {
      // Where the commit did take place, these are counted twice, which misleads less than none at all.
      for (const { accountId, missed } of due) budget.release(accountId, missed);
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
