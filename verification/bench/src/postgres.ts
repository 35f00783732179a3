import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '@orders/test-services/load/run-load.ts';
import type pg from 'pg';

type Client = Pick<pg.Client, 'query'> | Pick<pg.Pool, 'query'>;

/** The current end of the write-ahead log, in bytes. */
export async function walPosition(client: Client): Promise<number> {
  const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes");
  return rows[0].bytes;
}

/** Bytes written to the log since a position. Full-page images are separate, because they depend on checkpoints. */
export async function walBytesSince(client: Client, from: number): Promise<{ records: number; pageImages: number }> {
  await client.query('create extension if not exists pg_walinspect');
  const { rows } = await client.query(
    `select sum(record_size)::float8 as records, sum(fpi_size)::float8 as page_images
     from pg_get_wal_stats('0/0'::pg_lsn + $1::numeric, pg_current_wal_flush_lsn())`,
    [from],
  );
  return { records: rows[0].records ?? 0, pageImages: rows[0].page_images ?? 0 };
}

/** The stored orders of one load. */
export interface StoredOrders {
  /** For each order by its number: its commit time in Unix milliseconds; NaN if it is missing. */
  writtenAt: Float64Array;
  /** The number of surplus rows of orders. */
  extra: number;
}

/** Finds the orders of one load by the unique index. '.' is the character after '-'. */
const OF_LOAD = "account_id = any($1::int[]) and source_order_id >= $2 || '-' and source_order_id < $2 || '.'";

/** The table with the unique index, in which each order has a row of the same transaction. */
async function tableOfKeys(client: Client): Promise<string> {
  const { rows } = await client.query("select coalesce(to_regclass('order_keys'), 'orders'::regclass)::text as name");
  return rows[0].name;
}

/** Identifies the orders of one load. */
export interface SentOrders {
  accountIds: number[];
  prefix: string;
}

/**
 * Reads the commit time of each order of a load (`track_commit_timestamp`). The contestant needs only a table `orders`
 * with a `source_order_id`.
 */
export async function readStoredOrders(client: Client, sent: SentOrders, count: number): Promise<StoredOrders> {
  const { rows } = await client.query(
    `select split_part(source_order_id, '-', 2)::int as number,
            extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as written_at
     from ${await tableOfKeys(client)} where ${OF_LOAD}`,
    [sent.accountIds, sent.prefix],
  );
  const writtenAt = new Float64Array(count).fill(Number.NaN);
  let extra = 0;
  for (const { number, written_at } of rows) {
    if (Number.isNaN(writtenAt[number])) writtenAt[number] = written_at;
    else extra += 1;
  }
  return { writtenAt, extra };
}

/** An order with a 202 must be stored once. Any other order may be stored, because its reply may have been lost. */
export function countFaults({ acceptedAt }: LoadResult, { writtenAt, extra }: StoredOrders) {
  const isLost = (at: number, number: number) => !Number.isNaN(at) && Number.isNaN(writtenAt[number]);
  return { lost: acceptedAt.filter(isLost).length, doubled: extra };
}

/** The number of orders of a load so far. */
async function countOrders(client: Client, table: string, sent: SentOrders): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as orders from ${table} where ${OF_LOAD}`, [
    sent.accountIds,
    sent.prefix,
  ]);
  return rows[0].orders;
}

/** How long no order may be written. */
export const STUCK_SECONDS = 60;
const POLL_INTERVAL_MS = 20;

/** Waits until so many orders of a load are written. @returns false after a minute without progress. */
export async function untilOrders(client: Client, sent: SentOrders, wanted: number): Promise<boolean> {
  let seen = 0;
  const table = await tableOfKeys(client);
  for (let progressAt = Date.now(); Date.now() - progressAt < STUCK_SECONDS * 1000; await sleep(POLL_INTERVAL_MS)) {
    const orders = await countOrders(client, table, sent);
    if (orders >= wanted) return true;
    if (orders > seen) progressAt = Date.now();
    seen = orders;
  }
  return false;
}

/** The number of deadlocks of this database. */
export async function countDeadlocks(client: Client): Promise<number> {
  const { rows } = await client.query(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  );
  return rows[0].deadlocks;
}
