import { closeDatabase, type Database, findReceipt, isPoolBusy, openDatabase } from '@orders/database';
import type { OutageLog } from '@orders/runtime';

/** A standby that look-ups may go to. Nothing depends on it: whoever gets no answer asks the primary. */
export interface ReadReplica {
  /** What the replica says, or null while it is away or busy. Never throws, and waits a second at most: for a connection, and for the answer. */
  ask<Answer>(question: (replica: Database) => Promise<Answer>): Promise<Answer | null>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 500;
/** Between looks at one that is away: doubled each time, and from one outage to the next if that comes soon, as it does of an overload. */
const [PAUSE_MS, LONGEST_PAUSE_MS] = [2000, 30_000];
const SOON_MS = 5000;
const NO_RECEIPT = '00000000-0000-7000-8000-000000000000';

/**
 * After an error, or an answer that took longer than half a second, nobody asks the replica until it has answered a look-up that no request waits for.
 * Who found no connection free in half a second has learnt nothing of the replica; those that hold them will.
 */
export function openReadReplica(
  options: { url: string; poolSize: number; prepared: boolean },
  outage: OutageLog,
): ReadReplica {
  const database = openDatabase({ ...options, queryTimeout: TIMEOUT_MS, applicationName: 'orders intake' });
  let isAway = false;
  let backAt = Number.NEGATIVE_INFINITY;
  let pauseMs = PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;

  async function lookAgain(): Promise<void> {
    try {
      await findReceipt(database, 0, NO_RECEIPT);
      isAway = false;
      backAt = performance.now();
      outage.over();
    } catch {
      wait();
    }
  }

  function wait(): void {
    if (database.pool.ending) return;
    timer = setTimeout(lookAgain, pauseMs).unref();
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  return {
    async ask(question) {
      if (isAway) return null;
      try {
        return await question(database);
      } catch (error) {
        if (isPoolBusy(error)) return null;
        outage.met(error);
        if (isAway) return null;
        isAway = true;
        if (performance.now() - backAt > SOON_MS) pauseMs = PAUSE_MS;
        wait();
        return null;
      }
    },
    async close() {
      clearTimeout(timer);
      await closeDatabase(database);
    },
  };
}
