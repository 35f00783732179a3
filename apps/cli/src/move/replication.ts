import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@orders/database/connect.ts';
import { sqlstateOf } from '@orders/database/database-errors.ts';
import { withLockRetries } from '@orders/database/partitions/create-partitions.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import pg from 'pg';
import { Failure } from '../errors.ts';
import { ofAccounts } from './copy-rows.ts';
import { REPLICATED } from './moved-tables.ts';

const POLL_MS = 500;

/** The name of the publication, the slot and the subscription of a move. */
const nameOf = (accountId: number) => `orders_account_move_${accountId}`;

/** Publishes the rows of accounts, if that is not done yet. */
async function publish(source: Database, accountId: number, accountIds: readonly number[]): Promise<void> {
  const name = nameOf(accountId);
  if ((await run(source, 'select from pg_publication where pubname = $1', [name])).length > 0) return;
  const tables = REPLICATED.map((table) => `${table} where (${ofAccounts(accountIds)})`);
  await execute(
    source,
    `create publication ${name} for table ${tables.join(', ')}
     with (publish = 'insert, update, delete', publish_via_partition_root = true)`,
  );
}

/** Drops what `publish` made, and the slots of subscriptions that are gone. */
export async function unpublish(source: Database, accountId: number): Promise<void> {
  await dropSlots(source, nameOf(accountId));
  await execute(source, `drop publication if exists ${nameOf(accountId)}`);
}

async function dropSlots(source: Database, pattern: string): Promise<void> {
  for (;;) {
    const slots = await run<{ slot_name: string; active: boolean }>(
      source,
      'select slot_name, active from pg_replication_slots where slot_name like $1 and database = current_database()',
      [pattern.replaceAll('_', '\\_')],
    );
    for (const { slot_name, active } of slots)
      if (!active) await execute(source, 'select pg_drop_replication_slot($1)', [slot_name]);
    if (!slots.some(({ active }) => active)) return;
    await sleep(POLL_MS);
  }
}

/** Whether the other installation has the subscription of a move, and `unsubscribe` has not begun. */
export async function isSubscribed(target: Connection, accountId: number): Promise<boolean> {
  return (await findSubscription(target, accountId))?.is_enabled === true;
}

interface Subscription {
  id: string;
  is_enabled: boolean;
}

async function findSubscription(target: Connection, accountId: number): Promise<Subscription | null> {
  const [found] = await run<Subscription>(
    target,
    `select s.oid::text as id, s.subenabled as is_enabled from pg_subscription s join pg_database d on d.oid = s.subdbid
     where s.subname = $1 and d.datname = current_database()`,
    [nameOf(accountId)],
  );
  return found ?? null;
}

/**
 * Begins to replicate: first all rows, then each change.
 *
 * @param sourceUrl as the other Postgres reaches this one.
 * @throws {Failure} if it does not reach it.
 */
export async function subscribe(
  source: Database,
  target: Database,
  move: { account_id: number; account_ids: number[] },
  sourceUrl: string,
): Promise<void> {
  const name = nameOf(move.account_id);
  await publish(source, move.account_id, move.account_ids);
  await dropSlots(source, name);
  const connect = pg.escapeLiteral(sourceUrl);
  try {
    await execute(target, `create subscription ${name} connection ${connect} publication ${name}`);
  } catch (error) {
    // Not Postgres' message, which has the address.
    if (sqlstateOf(error)?.startsWith('08'))
      throw new Failure(
        'The Postgres of TARGET_DATABASE_URL cannot connect to that of DATABASE_URL: set SOURCE_DATABASE_URL to the address by which it can.',
      );
    throw error;
  }
}

/** Ends the replication; what was copied stays. */
export async function unsubscribe(source: Database, target: Database, accountId: number): Promise<void> {
  const subscription = await findSubscription(target, accountId);
  if (!subscription) return;
  const name = nameOf(accountId);
  // Without its slot, so that it can be dropped while the other side is not reached.
  await execute(target, `alter subscription ${name} disable`);
  await execute(target, `alter subscription ${name} set (slot_name = none)`);
  await execute(target, `drop subscription ${name}`);
  await dropSlots(source, `pg_${subscription.id}_sync_%`);
}

/**
 * Waits until all rows are copied, and each change is replicated. Until then, makes the partitions of orders that the other installation lacks.
 *
 * @throws {Failure} if the slot was lost, so that it would wait for ever.
 */
export async function untilCopied(
  source: Database,
  target: Database,
  move: { account_id: number; account_ids: number[] },
  report: (line: string) => void,
): Promise<void> {
  let reported = '';
  for (;;) {
    await ensureOrderPartitions(source, target, move.account_ids);
    const [slot] = await run<{ is_lost: boolean }>(
      source,
      `select coalesce(wal_status, '') = 'lost' as is_lost from pg_replication_slots where slot_name = $1`,
      [nameOf(move.account_id)],
    );
    if (!slot || slot.is_lost)
      throw new Failure('The replication slot is lost: undo the move with --undo, and start it again.');
    const [state] = await run<{ ready: number; tables: number; errors: number }>(
      target,
      `select count(*) filter (where r.srsubstate = 'r') as ready, count(*) as tables,
              (select coalesce(sum(apply_error_count + sync_error_count), 0)::int from pg_stat_subscription_stats where subid = s.oid) as errors
       from pg_subscription s join pg_subscription_rel r on r.srsubid = s.oid where s.subname = $1 group by s.oid`,
      [nameOf(move.account_id)],
    );
    const { ready = 0, tables = REPLICATED.length, errors = 0 } = state ?? {};
    const trouble = errors > 0 ? `, ${errors} errors: see the log of the Postgres of TARGET_DATABASE_URL` : '';
    const line = `copying: ${ready} of ${tables} tables${trouble}`;
    if (line !== reported) report(line);
    reported = line;
    if (ready === tables) return;
    await sleep(POLL_MS);
  }
}

/** Waits until the other installation has everything that was written up to now. */
export async function untilCaughtUp(source: Database, accountId: number): Promise<void> {
  const [now] = await run<{ lsn: string }>(source, 'select pg_current_wal_insert_lsn()::text as lsn');
  for (;;) {
    const [slot] = await run<{ has_all: boolean }>(
      source,
      'select confirmed_flush_lsn >= $2::pg_lsn as has_all from pg_replication_slots where slot_name = $1',
      [nameOf(accountId), now?.lsn],
    );
    if (!slot) throw new Failure('The replication slot is lost: undo the move with --undo, and start it again.');
    if (slot.has_all) return;
    await sleep(POLL_MS);
  }
}

// From the first order of the accounts on. Archived months have no partition.
const ORDER_RANGES = (condition: string) => `
select first_id, began_at from order_ranges
where dropped_at is null and first_id + order_range_width() > coalesce(
  (select min(order_id) from orders where ${condition}), (select max(first_id) from order_ranges))
order by first_id`;

/** Makes the partitions for orders of these accounts that the other installation lacks, and for those of the next month. */
export async function ensureOrderPartitions(
  source: Database,
  target: Database,
  accountIds: readonly number[],
): Promise<void> {
  const ranges = await run<{ first_id: number; began_at: Date }>(source, ORDER_RANGES(ofAccounts(accountIds)));
  for (const { first_id, began_at } of ranges) {
    const known = 'select from order_ranges where first_id = $1';
    if ((await run(target, known, [first_id])).length > 0) continue;
    await withLockRetries(target, async (transaction) => {
      await run(transaction, 'select make_order_partitions($1)', [first_id]);
      const insert = 'insert into order_ranges (first_id, began_at) values ($1, $2) on conflict do nothing';
      await execute(transaction, insert, [first_id, began_at]);
    });
  }
}
