import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../connect.ts';
import { SQLSTATE, sqlstateOf } from '../database-errors.ts';
import { type Connection, inTransaction } from '../run.ts';

/** Intake queues behind a request for a table lock, so this limits how long senders wait. */
const LOCK_TIMEOUT_MS = 200;
const ATTEMPTS = 5;
/** Random, so that workers do not request the same lock in step; much longer than senders wait. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 2000];
// A query is canceled by the statement timeout. A row that is added to the default partition while its partition is attached violates a check.
const RETRIABLE: readonly string[] = [
  SQLSTATE.lockNotAvailable,
  SQLSTATE.deadlockDetected,
  SQLSTATE.queryCanceled,
  SQLSTATE.checkViolation,
];

/**
 * Runs work in a transaction that waits at most 200 ms for a lock, with up to five attempts and pauses between them.
 *
 * @param work must be safe to retry.
 * @throws {pg.DatabaseError} 55P03, 40P01, 57014 or 23514 when the last attempt failed, or `signal` was aborted after one; nothing was changed.
 */
export async function withLockRetries<T>(
  database: Database,
  work: (transaction: Connection) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(database, work, { lock_timeout: LOCK_TIMEOUT_MS });
    } catch (error) {
      if (attempt === ATTEMPTS || signal?.aborted || !RETRIABLE.includes(sqlstateOf(error) ?? '')) throw error;
      const pauseMs = MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS);
      await sleep(pauseMs, null, { signal }).catch(() => {});
      if (signal?.aborted) throw error;
    }
  }
}
