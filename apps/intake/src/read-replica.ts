import { closeDatabase, type Database, findReceipt, openDatabase } from '@orders/database';
import type { OutageLog } from '@orders/runtime';

/** A standby that look-ups may go to. Nothing depends on it: whoever gets no answer asks the primary. */
export interface ReadReplica {
  /** What the replica says, or null while it is away. Never throws, and waits a second at most: for a connection, and for the answer. */
  ask<Answer>(question: (replica: Database) => Promise<Answer>): Promise<Answer | null>;
  close(): Promise<void>;
}

const PATIENCE_MS = 500;
const LOOK_AGAIN_MS = 2000;
const NO_RECEIPT = '00000000-0000-7000-8000-000000000000';

/**
 * After an error, or an answer that took longer than half a second, nobody asks the replica until it has answered a look-up that no request waits for.
 */
export function openReadReplica(
  options: { url: string; poolSize: number; prepared: boolean },
  outage: OutageLog,
): ReadReplica {
  const database = openDatabase({ ...options, queryTimeout: PATIENCE_MS, applicationName: 'orders intake' });
  let isAway = false;
  let timer: NodeJS.Timeout | undefined;

  async function lookAgain(): Promise<void> {
    try {
      await findReceipt(database, 0, NO_RECEIPT);
      isAway = false;
      outage.over();
    } catch {
      wait();
    }
  }

  function wait(): void {
    if (!database.pool.ending) timer = setTimeout(lookAgain, LOOK_AGAIN_MS).unref();
  }

  return {
    async ask(question) {
      if (isAway) return null;
      try {
        return await question(database);
      } catch (error) {
        outage.met(error);
        if (!isAway) wait();
        isAway = true;
        return null;
      }
    },
    async close() {
      clearTimeout(timer);
      await closeDatabase(database);
    },
  };
}
