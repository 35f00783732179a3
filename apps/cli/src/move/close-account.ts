import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@orders/database/connect.ts';
import { withLockRetries } from '@orders/database/partitions/create-partitions.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import { ofAccounts } from './copy-rows.ts';
import { GUARDED } from './moved-tables.ts';

const POLL_MS = 500;

/** Intake knows an account for up to five seconds. */
const CLOSED_EVERYWHERE_SECONDS = 6;

/**
 * Closes accounts: intake answers 503, members only read, and no event is delivered. Of one that was not suspended, both times are the same.
 *
 * @returns the ids of those that were not suspended before.
 */
export async function closeAccounts(transaction: Connection, accountIds: readonly number[]): Promise<number[]> {
  const closed = await run<{ account_id: number; was_active: boolean }>(
    transaction,
    `update accounts set suspended_at = coalesce(suspended_at, now()), moving_since = now() where ${ofAccounts(accountIds)}
     returning account_id, suspended_at = moving_since as was_active`,
  );
  return closed.flatMap(({ account_id, was_active }) => (was_active ? [account_id] : []));
}

/** Ends what `closeAccounts` did. @returns the ids of the accounts that work again; none the second time. */
export async function openAccounts(transaction: Connection, accountIds: readonly number[]): Promise<number[]> {
  const opened = await run<{ account_id: number; is_active: boolean }>(
    transaction,
    `update accounts set suspended_at = nullif(suspended_at, moving_since), moving_since = null
     where ${ofAccounts(accountIds)} and moving_since is not null
     returning account_id, suspended_at is null as is_active`,
  );
  return opened.flatMap(({ account_id, is_active }) => (is_active ? [account_id] : []));
}

/** What is still to be done for accounts, as SQL that counts it. */
const OPEN_WORK: Record<string, (condition: string) => string> = {
  receipts: (condition) => `select count(*) from outbox o cross join unnest(o.receipt_ids) as waiting(id)
    join receipts r on r.receipt_id = waiting.id and r.${condition} where o.account_ids && array(select account_id from accounts where ${condition})`,
  'undispatched orders': (condition) => `select count(*) from undispatched_orders where ${condition}`,
  'cancellations to dispatch': (condition) =>
    `select count(*) from cancellation_requests where ${condition} and position is null`,
  events: (condition) => `select count(*) from unpublished_events where ${condition}`,
  deliveries: (condition) => `select count(*) from endpoints where ${condition} and lease_expires_at > now()`,
};

/** What accounts still wait for, in words; null if nothing. */
async function findOpenWork(connection: Connection, accountIds: readonly number[]): Promise<string | null> {
  const counts = Object.entries(OPEN_WORK).map(([what, sql]) => `(${sql(ofAccounts(accountIds))}) as "${what}"`);
  const [found] = await run<Record<string, number>>(connection, `select ${counts.join(', ')}`);
  const open = Object.entries(found ?? {}).filter(([, count]) => count > 0);
  return open.length > 0 ? open.map(([what, count]) => `${count} ${what}`).join(', ') : null;
}

/**
 * Waits until everything that was accepted is processed, and then guards the accounts, so that nothing more can be. Of what a process began
 * before, the guard waits for the end; if that was new work, it waits for that too.
 */
export async function drainAccounts(
  source: Database,
  { account_id, account_ids: accountIds }: { account_id: number; account_ids: readonly number[] },
  report: (line: string) => void,
): Promise<void> {
  const ofIntake = `select count(*) as early from accounts
    where ${ofAccounts(accountIds)} and moving_since > now() - interval '${CLOSED_EVERYWHERE_SECONDS} seconds'`;
  while (((await run<{ early: number }>(source, ofIntake))[0]?.early ?? 0) > 0) await sleep(POLL_MS);
  for (;;) {
    await setGuarded(source, account_id, false);
    let reported: string | null = null;
    for (;;) {
      const open = await findOpenWork(source, accountIds);
      if (open === null) break;
      if (open !== reported) report(`waiting for ${open}`);
      reported = open;
      await sleep(POLL_MS);
    }
    await setGuarded(source, account_id, true);
    if ((await findOpenWork(source, accountIds)) === null) return;
  }
}

/**
 * Makes or removes the triggers that reject new rows of an account that is moved, and of its test account. Each waits for the transactions
 * that are writing its table.
 *
 * @throws {pg.DatabaseError} as `withLockRetries`.
 */
export async function setGuarded(source: Database, accountId: number, isDrained: boolean): Promise<void> {
  await execute(source, 'update account_moves set is_drained = $2 where account_id = $1', [accountId, isDrained]);
  for (const table of GUARDED)
    await withLockRetries(source, async (transaction) => {
      // Serializes moves of several accounts, as each replaces the triggers.
      await execute(transaction, 'lock table account_moves in exclusive mode');
      const drained = await run<{ account_id: number }>(
        transaction,
        'select unnest(account_ids) as account_id from account_moves where is_drained order by account_id',
      );
      const [trigger] = await run<{ definition: string }>(
        transaction,
        `select pg_get_triggerdef(oid) as definition from pg_trigger where tgname = 'keep_moved_accounts' and tgrelid = $1::regclass`,
        [table],
      );
      const ids = drained.map(({ account_id }) => account_id).join(',');
      // The ids as Postgres writes them: nothing is locked if they are guarded already.
      if (trigger ? trigger.definition.includes(`'{${ids}}'`) : ids === '') return;
      await execute(
        transaction,
        ids === ''
          ? `drop trigger keep_moved_accounts on ${table}`
          : `create or replace trigger keep_moved_accounts before insert on ${table} for each row
             when (new.account_id = any ('{${ids}}'::int[])) execute function reject_row_of_moved_account()`,
      );
    });
}
