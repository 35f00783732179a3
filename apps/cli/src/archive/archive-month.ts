import { join } from 'node:path';
import type { Database } from '@orders/database/connect.ts';
import { withLockRetries } from '@orders/database/partitions/create-partitions.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import { recordAction } from '../audit.ts';
import { Failure } from '../errors.ts';
import { CHUNK } from '../list-orders.ts';
import { type Digest, writeArchive } from './archive-file.ts';

/** A month of orders that is over: the orders with ids from `firstId` to before `endId`, in a partition of their own. */
export interface Month {
  firstId: number;
  endId: number;
  beganAt: Date;
}

/** Months that ended a time ago and were not dropped, oldest first. @param olderThan milliseconds. */
export async function findOldMonths(connection: Connection, olderThan: number): Promise<Month[]> {
  return run<Month>(
    connection,
    `select r.first_id as "firstId", r.first_id + order_range_width() as "endId", r.began_at as "beganAt"
     from order_ranges r
     cross join lateral (select n.began_at from order_ranges n where n.first_id > r.first_id order by n.first_id limit 1) as next
     where r.dropped_at is null and next.began_at < now() - $1 * interval '1 ms'
     order by r.first_id`,
    [olderThan],
  );
}

/** Why a month cannot be archived, by count. */
const OPEN_WORK = {
  waiting: 'need review',
  unpaid: 'await payment',
  requests: 'have an open request to cancel them',
  undispatched: 'are confirmed and not yet dispatched',
};

/** Orders of accounts that moved to another installation are dealt with there. */
const OF_MONTH =
  'order_id >= $1 and order_id < $2 and account_id not in (select account_id from accounts where moved_to is not null)';

/** What is still to be done about orders of a month, in words; null if nothing. */
export async function findOpenWork(connection: Connection, { firstId, endId }: Month): Promise<string | null> {
  const [counts] = await run<Record<keyof typeof OPEN_WORK, number>>(
    connection,
    `select (select count(*)::int from orders where review_state = 'needs_review' and ${OF_MONTH}) as waiting,
            (select count(*)::int from orders where review_state = 'awaiting_payment' and ${OF_MONTH}) as unpaid,
            (select count(*)::int from cancellation_requests where closed_at is null and ${OF_MONTH}) as requests,
            (select count(*)::int from undispatched_orders where ${OF_MONTH}) as undispatched`,
    [firstId, endId],
  );
  const open = Object.entries(OPEN_WORK).flatMap(([name, what]) => {
    const count = counts?.[name as keyof typeof OPEN_WORK] ?? 0;
    return count > 0 ? [`${count} ${what}`] : [];
  });
  return open.length > 0 ? open.join(', ') : null;
}

/** The file of a month, such as `orders-2024-03-500000000.ndjson.gz`. */
export function fileOf({ beganAt, firstId }: Month): string {
  return `orders-${beganAt.toISOString().slice(0, 7)}-${firstId}.ndjson.gz`;
}

/**
 * Stores a month in a file and verifies that. From its first statement on, the orders cannot be changed (SQLSTATE 55006), so that the file
 * has what is dropped. If it fails, they can be changed again; after an interruption, once it is called again.
 *
 * @param onProgress is called with the number of orders after each chunk.
 * @throws {Failure} as `writeArchive`, or if orders are missing in the file; {pg.DatabaseError}.
 */
export async function storeMonth(
  database: Database,
  month: Month,
  directory: string,
  onProgress: (orders: number) => void,
): Promise<Digest> {
  const name = fileOf(month);
  await keepUnchanged(database, month);
  try {
    const stored = await writeArchive(join(directory, name), linesOf(database, month, onProgress));
    const [count] = await run<{ orders: number }>(database, `select count(*) as orders from ${partitionOf(month)}`);
    if (count?.orders !== stored.orders) throw new Failure(`${name} does not have all orders of its month.`);
    await execute(
      database,
      'update order_ranges set archived_at = clock_timestamp(), archive_name = $2, archive_orders = $3, archive_sha256 = $4 where first_id = $1',
      [month.firstId, name, stored.orders, stored.sha256],
    );
    return stored;
  } catch (error) {
    await allowChanges(database, month);
    throw error;
  }
}

const partitionOf = ({ firstId }: Month) => `orders_${firstId}`;

/** Waits for the transactions that are changing these orders. */
function keepUnchanged(database: Database, month: Month): Promise<unknown> {
  const create = `create or replace trigger being_archived before update or delete on ${partitionOf(month)}
    for each row execute function keep_archived_orders()`;
  return withLockRetries(database, (transaction) => execute(transaction, create));
}

/** Ends what `storeMonth` began. */
export function allowChanges(database: Database, month: Month): Promise<unknown> {
  const drop = `drop trigger if exists being_archived on ${partitionOf(month)}`;
  return withLockRetries(database, (transaction) => execute(transaction, drop));
}

const LENGTH = 'octet_length(o.items::text) + octet_length(o.warnings::text)';

/** The orders of a month by account and id, with what belongs to each and has no other place to stay. */
async function* linesOf(
  database: Database,
  month: Month,
  onProgress: (orders: number) => void,
): AsyncGenerator<string> {
  let [accountId, orderId, orders] = [0, 0, 0];
  for (;;) {
    const rows = await run<{ account_id: number; order_id: number; line: string }>(
      database,
      `select o.account_id, o.order_id, jsonb_build_object(
          'order', to_jsonb(o) - '{length, length_before}'::text[],
          'notes', (select coalesce(jsonb_agg(to_jsonb(n) order by n.note_id), '[]') from order_notes n
                    where n.account_id = o.account_id and n.order_id = o.order_id),
          'cancellation_request', (select to_jsonb(r) from cancellation_requests r
                                   where r.account_id = o.account_id and r.order_id = o.order_id))::text as line
       from (
         select *, sum(length) over (order by account_id, order_id) - length as length_before
         from (
           select o.*, ${LENGTH} as length from ${partitionOf(month)} o
           where (o.account_id, o.order_id) > ($1::int, $2::bigint)
           order by o.account_id, o.order_id limit ${CHUNK.count}
         ) as next
       ) as o
       where length_before < ${CHUNK.length}
       order by o.account_id, o.order_id`,
      [accountId, orderId],
    );
    const last = rows.at(-1);
    if (!last) return;
    for (const { line } of rows) yield line;
    orders += rows.length;
    onProgress(orders);
    ({ account_id: accountId, order_id: orderId } = last);
  }
}

/** Removes the orders of a stored month, with what `linesOf` gives of them, that they were printed or snoozed, and their search terms. Their keys stay. */
export async function dropMonth(database: Database, month: Month, { orders }: Digest): Promise<void> {
  for (const table of ['order_notes', 'order_prints', 'order_snoozes', 'cancellation_requests', 'order_words'])
    await execute(database, `delete from ${table} where order_id >= $1 and order_id < $2`, [
      month.firstId,
      month.endId,
    ]);
  await withLockRetries(database, async (transaction) => {
    await execute(transaction, `drop table ${partitionOf(month)}`);
    await execute(transaction, 'update order_ranges set dropped_at = clock_timestamp() where first_id = $1', [
      month.firstId,
    ]);
    await recordAction(transaction, {
      accountId: null,
      action: 'orders_archived',
      subject: 'accounts',
      details: { orders, from: month.firstId, to: month.endId - 1 },
    });
  });
}
