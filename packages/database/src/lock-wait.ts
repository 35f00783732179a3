import { SQLSTATE, sqlstateOf } from './database-errors.ts';

/** How long a statement about many accounts waits for a lock, in milliseconds. Transactions that others wait for are shorter. */
export const LOCK_WAIT_MS = 100;
/** For another try after a wait in vain: as short as Postgres allows, as 0 means no limit. */
export const NO_LOCK_WAIT_MS = 1;

/**
 * SQL: the common table expression `limited`, which limits each wait of its transaction for a row, or for another transaction with the same key.
 * Tables are locked before it, so a migration is waited for. It costs no round trip, and works behind a pooler.
 *
 * @param parameter milliseconds, such as `$1`.
 */
export const limitLockWait = (parameter: string) =>
  `limited as materialized (select set_config('lock_timeout', ${parameter}::text, true))`;

/** SQL: a condition that applies `limited`. It must stand where the first rows are read, before the first lock. */
export const IS_LIMITED = 'exists (select from limited)';

/** Whether a statement ended without a change, as it waited too long for a lock. */
export function isLockWaitOver(error: unknown): boolean {
  return sqlstateOf(error) === SQLSTATE.lockNotAvailable;
}
