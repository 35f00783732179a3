import { firstInDefault } from '@orders/database/partitions/default-partitions.ts';
import { listPartitions, type Partition } from '@orders/database/partitions/list-partitions.ts';
import { withLockRetries } from '@orders/database/partitions/with-lock-retries.ts';
import { firstUuidAt, timeOf } from '@orders/database/receipts/uuids.ts';
import { RETENTION_LOCK, removeChunks } from '@orders/database/run.ts';
import type { Knex } from 'knex';

/** Pages per statement. It is short, because while it runs no newer confirmation appears in dispatchable_orders. */
const PAGES = 1000;

/**
 * Removes resends whose receipts were dropped. It scans the table by pages, as an index by receipt id would cost more on each duplicate.
 *
 * @param receiptId the first receipt that is kept.
 * @param signal stops it between two chunks.
 */
async function removeOldResends(knex: Knex, receiptId: string, signal?: AbortSignal): Promise<void> {
  const { rows } = await knex.raw<{ rows: { pages: number }[] }>(
    "select (pg_relation_size('resends') / current_setting('block_size')::int)::int as pages",
  );
  for (let page = 0; page < (rows[0]?.pages ?? 0) && !signal?.aborted; page += PAGES) {
    await knex.raw('delete from resends where ctid >= ?::tid and ctid < ?::tid and receipt_id < ?::uuid', [
      `(${page},0)`,
      `(${page + PAGES},0)`,
      receiptId,
    ]);
  }
}

/** Max time to read the outbox again while the table is locked. With a backlog of millions it takes longer; the drop then fails and is retried. */
const CHECK_UNDER_LOCK_MS = 300;

/** Result of a retention run: names of tables. */
export interface Retention {
  dropped: string[];
  /** Past their retention, but kept because a receipt in them or in an older partition is not final. */
  kept: string[];
}

/**
 * Drops each partition of receipts when all its receipts are final and `retention` milliseconds older than the newest receipt and Postgres'
 * clock, and all older partitions are dropped. Then drops the partitions of bodies that have no receipts left. Each drop is its own transaction: intake
 * locks bodies before receipts, so a transaction that drops both would deadlock with it. An interrupted run is completed by the next one.
 *
 * @param signal stops it between two partitions.
 * @throws {pg.DatabaseError} as `withLockRetries`; earlier drops stay.
 */
export async function dropOldPartitions(knex: Knex, retention: number, signal?: AbortSignal): Promise<Retention> {
  const result: Retention = { dropped: [], kept: [] };
  const horizon = (await timeOfNewest(knex)) - retention;
  const partitions = await listPartitions(knex);
  const receipts = partitions.filter(({ table }) => table === 'receipts');
  const bodies = partitions.filter(({ table }) => table === 'receipt_payloads');
  let kept = receipts;
  for (const partition of receipts.filter(({ from, to }) => Number.isFinite(from) && to <= horizon)) {
    if (signal?.aborted) return result;
    if (result.kept.length > 0 || !(await dropReceipts(knex, partition, signal))) {
      result.kept.push(partition.name);
      continue;
    }
    result.dropped.push(partition.name);
    kept = kept.filter(({ name }) => name !== partition.name);
  }
  // A batch id is newer than the ids of its receipts, so a body can be in the partition after its receipt's, never in one before.
  const firstKept = Math.min(kept[0]?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(knex));
  for (const { name, to } of bodies) {
    if (signal?.aborted) return result;
    if (to > horizon || to > firstKept) continue;
    await withLockRetries(knex, (trx) => trx.raw('drop table if exists ??', [name]), signal);
    result.dropped.push(name);
  }
  return result;
}

/** Now, or the time of the newest receipt if that is earlier, in Unix milliseconds: a clock that is far ahead must not drop what is new. */
async function timeOfNewest(knex: Knex): Promise<number> {
  const { rows } = await knex.raw<{ rows: { now: Date; newest: string | null }[] }>(
    'select now() as now, (select receipt_id from receipts order by receipt_id desc limit 1) as newest',
  );
  const { now = new Date(0), newest = null } = rows[0] ?? {};
  return Math.min(now.getTime(), newest === null ? Number.POSITIVE_INFINITY : timeOf(newest));
}

/** @returns whether it is dropped; false when a receipt in it is not final. */
async function dropReceipts(knex: Knex, partition: Partition, signal?: AbortSignal): Promise<boolean> {
  // Check without a lock first: the check is slow with a large backlog, and usually ends here.
  if (await hasPendingWithoutTimeout(knex, partition)) return false;
  const stillPending = Symbol('still pending');
  const dropping = withLockRetries(
    knex,
    async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(?)', [RETENTION_LOCK]);
      // Another worker may have dropped it meanwhile.
      if (!(await trx.schema.hasTable(partition.name))) return;
      await trx.raw('set local statement_timeout = 0');
      await trx('dead_letters').where(idsWithin('receipt_id', partition)).delete();
      // From here on intake waits, and no receipt can be added to the partition or changed in it.
      await trx.raw('lock table only receipts in access exclusive mode');
      await trx.raw(`set local statement_timeout = ${CHECK_UNDER_LOCK_MS}`);
      if (await hasPendingReceipts(trx, partition)) throw stillPending;
      await trx.raw('set local statement_timeout = 0');
      await trx.raw('drop table ??', [partition.name]);
    },
    signal,
  );
  return dropping.then(
    () => true,
    (error) => {
      if (error === stillPending) return false;
      throw error;
    },
  );
}

/** Without a statement timeout, even if a pooler's connections have one. */
async function hasPendingWithoutTimeout(knex: Knex, partition: Partition): Promise<boolean> {
  return knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0');
    return hasPendingReceipts(trx, partition);
  });
}

/**
 * Whether a receipt of the partition is not final. The outbox contains the id of every such receipt in every snapshot, as
 * `reconcileReceipts` explains, so the cost depends on the backlog and not on the size of the partition. While nobody can record or redrive
 * a receipt, the result stays valid until the drop.
 */
async function hasPendingReceipts(knex: Knex, { from, to }: Partition): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: { pending: boolean }[] }>(
    `select exists (
       select from outbox cross join lateral unnest(receipt_ids) as id where id >= ?::uuid and id < ?::uuid
     ) as pending`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
  return rows[0]?.pending ?? true;
}

function idsWithin(column: string, { from, to }: Partition) {
  return (query: Knex.QueryBuilder) => {
    query.where(column, '>=', firstUuidAt(from)).where(column, '<', firstUuidAt(to));
  };
}

const CHUNK_ROWS = 5000;

async function removeActivity(knex: Knex, before: Date): Promise<number> {
  const chunk = knex('activity').where('bucket_start', '<', before).select('ctid').limit(CHUNK_ROWS);
  return knex('activity').whereRaw('ctid = any(array(?))', [chunk]).delete();
}

/**
 * Removes activity and resends of receipts whose partitions were dropped. It scans both tables, so it only runs after a drop. If a worker
 * stops in between, it runs after the next drop.
 *
 * @param signal stops it between two chunks.
 */
export async function removeLeftovers(knex: Knex, signal?: AbortSignal): Promise<void> {
  const [first] = (await listPartitions(knex)).filter(({ table }) => table === 'receipts');
  const start = Math.min(first?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(knex));
  if (!Number.isFinite(start)) return;
  await removeChunks(CHUNK_ROWS, () => removeActivity(knex, new Date(start)), signal);
  await removeOldResends(knex, firstUuidAt(start), signal);
}
