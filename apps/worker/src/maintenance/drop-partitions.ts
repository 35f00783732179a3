import type { Database } from '@orders/database/connect.ts';
import { withLockRetries } from '@orders/database/partitions/create-partitions.ts';
import {
  firstInDefault,
  hasTable,
  listPartitions,
  type Partition,
} from '@orders/database/partitions/list-partitions.ts';
import { firstUuidAt, timeOf } from '@orders/database/receipts/uuids.ts';
import { type Connection, execute, inTransaction, RETENTION_LOCK, removeChunks, run } from '@orders/database/run.ts';

/** Pages per statement. It is short, as its snapshot keeps vacuum from removing rows of all tables. */
const PAGES = 1000;

/**
 * Removes changed deliveries whose receipts were dropped. It scans the table by pages, as an index by receipt id would cost more on each duplicate.
 *
 * @param receiptId the first receipt that is kept.
 * @param signal stops it between two chunks.
 */
async function removeOldChangedDeliveries(database: Database, receiptId: string, signal?: AbortSignal): Promise<void> {
  const [size] = await run<{ pages: number }>(
    database,
    "select (pg_relation_size('changed_deliveries') / current_setting('block_size')::int)::int as pages",
  );
  for (let page = 0; page < (size?.pages ?? 0) && !signal?.aborted; page += PAGES) {
    await execute(
      database,
      'delete from changed_deliveries where ctid >= $1::tid and ctid < $2::tid and receipt_id < $3::uuid',
      [`(${page},0)`, `(${page + PAGES},0)`, receiptId],
    );
  }
}

/** Max time to read the outbox again while the table is locked. With a backlog of millions it takes longer; the drop then fails and is retried. */
const CHECK_UNDER_LOCK_MS = 300;

/** Result of a retention run: names of tables. */
export interface RetentionResult {
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
export async function dropOldPartitions(
  database: Database,
  retention: number,
  signal?: AbortSignal,
): Promise<RetentionResult> {
  const result: RetentionResult = { dropped: [], kept: [] };
  const horizon = (await timeOfNewest(database)) - retention;
  const partitions = await listPartitions(database);
  const receipts = partitions.filter(({ table }) => table === 'receipts');
  const bodies = partitions.filter(({ table }) => table === 'receipt_payloads');
  let kept = receipts;
  for (const partition of receipts.filter(({ from, to }) => Number.isFinite(from) && to <= horizon)) {
    if (signal?.aborted) return result;
    if (result.kept.length > 0 || !(await dropReceipts(database, partition, signal))) {
      result.kept.push(partition.name);
      continue;
    }
    result.dropped.push(partition.name);
    kept = kept.filter(({ name }) => name !== partition.name);
  }
  // A batch id is newer than the ids of its receipts, so a body can be in the partition after its receipt's, never in one before.
  const firstKept = Math.min(kept[0]?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(database));
  for (const { name, to } of bodies) {
    if (signal?.aborted) return result;
    if (to > horizon || to > firstKept) continue;
    await withLockRetries(database, (transaction) => execute(transaction, `drop table if exists "${name}"`), signal);
    result.dropped.push(name);
  }
  return result;
}

/** Now, or the time of the newest receipt if that is earlier, in Unix milliseconds: a clock that is far ahead must not drop what is new. */
async function timeOfNewest(database: Database): Promise<number> {
  const [clock] = await run<{ now: Date; newest: string | null }>(
    database,
    'select now() as now, (select receipt_id from receipts order by receipt_id desc limit 1) as newest',
  );
  const { now = new Date(0), newest = null } = clock ?? {};
  return Math.min(now.getTime(), newest === null ? Number.POSITIVE_INFINITY : timeOf(newest));
}

/** @returns whether it is dropped; false when a receipt in it is not final. */
async function dropReceipts(database: Database, partition: Partition, signal?: AbortSignal): Promise<boolean> {
  // Check without a lock first: the check is slow with a large backlog, and usually ends here.
  if (await hasPendingWithoutTimeout(database, partition)) return false;
  const stillPending = Symbol('still pending');
  const dropping = withLockRetries(
    database,
    async (transaction) => {
      await execute(transaction, 'select pg_advisory_xact_lock($1)', [RETENTION_LOCK]);
      // Another worker may have dropped it meanwhile.
      if (!(await hasTable(transaction, partition.name))) return;
      await execute(transaction, 'set local statement_timeout = 0');
      await execute(
        transaction,
        'delete from dead_letters where receipt_id >= $1 and receipt_id < $2',
        idsOf(partition),
      );
      // From here on intake waits, and no receipt can be added to the partition or changed in it.
      await execute(transaction, 'lock table only receipts in access exclusive mode');
      await execute(transaction, `set local statement_timeout = ${CHECK_UNDER_LOCK_MS}`);
      if (await hasPendingReceipts(transaction, partition)) throw stillPending;
      await execute(transaction, 'set local statement_timeout = 0');
      await execute(transaction, `drop table "${partition.name}"`);
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
function hasPendingWithoutTimeout(database: Database, partition: Partition): Promise<boolean> {
  const work = (transaction: Connection) => hasPendingReceipts(transaction, partition);
  return inTransaction(database, work, { statement_timeout: 0 });
}

/**
 * Whether a receipt of the partition is not final. The outbox contains the id of every such receipt in every snapshot, as
 * `reconcileReceipts` explains, so the cost depends on the backlog and not on the size of the partition. While nobody can record or redrive
 * a receipt, the result stays valid until the drop.
 */
async function hasPendingReceipts(connection: Connection, partition: Partition): Promise<boolean> {
  const [row] = await run<{ pending: boolean }>(
    connection,
    `select exists (
       select from outbox cross join lateral unnest(receipt_ids) as id where id >= $1::uuid and id < $2::uuid
     ) as pending`,
    idsOf(partition),
  );
  return row?.pending ?? true;
}

/** The first id of the partition, and the first after it. */
function idsOf({ from, to }: Partition): string[] {
  return [firstUuidAt(from), firstUuidAt(to)];
}

const CHUNK_ROWS = 5000;

function removeActivity(database: Database, before: Date): Promise<number> {
  return execute(
    database,
    `delete from activity where ctid = any(array(select ctid from activity where bucket_start < $1 limit ${CHUNK_ROWS}))`,
    [before],
  );
}

/**
 * Removes activity and changed deliveries of receipts whose partitions were dropped. It scans both tables, so it only runs after a drop. If a worker
 * stops in between, it runs after the next drop.
 *
 * @param signal stops it between two chunks.
 */
export async function removeLeftovers(database: Database, signal?: AbortSignal): Promise<void> {
  const [first] = (await listPartitions(database)).filter(({ table }) => table === 'receipts');
  const start = Math.min(first?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(database));
  if (!Number.isFinite(start)) return;
  await removeChunks(CHUNK_ROWS, () => removeActivity(database, new Date(start)), signal);
  await removeOldChangedDeliveries(database, firstUuidAt(start), signal);
}
