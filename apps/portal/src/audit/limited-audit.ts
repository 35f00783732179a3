import { type AuditEntry, recordAudit } from '@orders/database/audit.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';
import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';

/** Max entries for a key, a digest, within a window. */
interface AuditLimit {
  key: string;
  max: number;
  windowMs: number;
}

/** How long the number of entries above a limit is kept for the next entry. */
const MISSED_WINDOW_MS = 365 * 86_400_000;

/**
 * Records what happened, with an entry for each account that it concerns, within limits, which are counted in the table of sign-in
 * attempts. What is above a limit does not count for the limits after it.
 *
 * @param missedKey a digest. If given, what is above a limit is counted, and the next entries have its number in `more`.
 */
export async function recordAuditWithin(
  database: Connection,
  limits: readonly AuditLimit[],
  entries: readonly AuditEntry[],
  missedKey?: string,
): Promise<void> {
  async function isWithin(connection: Connection, { key, max, windowMs }: AuditLimit): Promise<boolean> {
    const { attempts } = await takeSignInAttempt(connection, key, windowMs);
    if (attempts <= max) return true;
    if (missedKey !== undefined) await takeSignInAttempt(connection, missedKey, MISSED_WINDOW_MS);
    return false;
  }
  // Only the last counter is locked with the entry: maintenance removes expired ones, and two locks could deadlock with it.
  for (const limit of limits.slice(0, -1)) if (!(await isWithin(database, limit))) return;
  await inTransaction(database, async (transaction) => {
    for (const limit of limits.slice(-1)) if (!(await isWithin(transaction, limit))) return;
    const [missed] = missedKey === undefined ? [] : await takeMissed(transaction, missedKey);
    await recordAudit(
      transaction,
      ...entries.map((entry) => (missed ? { ...entry, details: { ...entry.details, more: missed } } : entry)),
    );
  });
}

async function takeMissed(connection: Connection, key: string): Promise<number[]> {
  const take = 'delete from sign_in_attempts where key = $1 returning attempts';
  const rows = await run<{ attempts: number }>(connection, take, [key]);
  return rows.map(({ attempts }) => attempts);
}
