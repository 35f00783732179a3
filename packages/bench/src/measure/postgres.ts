import type pg from 'pg';

/** Where the write-ahead log ends now. */
export async function walPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query('select pg_current_wal_insert_lsn()::text as lsn');
  return rows[0].lsn;
}

/** Bytes written to the log since a position; images of whole pages apart, since they follow checkpoints and not orders. */
export async function walBytesSince(client: pg.Client, from: string): Promise<{ records: number; pageImages: number }> {
  await client.query('create extension if not exists pg_walinspect');
  const { rows } = await client.query(
    `select sum(record_size)::float8 as records, sum(fpi_size)::float8 as page_images
     from pg_get_wal_stats($1::pg_lsn, pg_current_wal_flush_lsn())`,
    [from],
  );
  return { records: rows[0].records ?? 0, pageImages: rows[0].page_images ?? 0 };
}

/** The outcome of the orders of one load, as stored in Postgres. */
export interface StoredOrders {
  /** For each order by its number: Unix milliseconds at which it was committed; NaN where it is not there. */
  writtenAt: Float64Array;
  /** Rows beyond one for an order. */
  extra: number;
}

/** The orders of one load, found by the unique index whatever else is in the table. '.' is the character after '-'. */
const OF_LOAD = "account_id = any($1::int[]) and source_order_id >= $2 || '-' and source_order_id < $2 || '.'";

/** The orders that one load sent. */
export interface SentOrders {
  accountIds: number[];
  prefix: string;
}

/**
 * Reads when each order of a load was committed, by the clock of the commit itself (`track_commit_timestamp`), which needs nothing of
 * the contestant but a table `orders` with its `source_order_id`.
 */
export async function readStoredOrders(client: pg.Client, sent: SentOrders, count: number): Promise<StoredOrders> {
  const { rows } = await client.query(
    `select split_part(source_order_id, '-', 2)::int as number,
            extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as written_at
     from orders where ${OF_LOAD}`,
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

/** How many orders of a load there are by now. */
export async function countOrders(client: pg.Client, sent: SentOrders): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as orders from orders where ${OF_LOAD}`, [
    sent.accountIds,
    sent.prefix,
  ]);
  return rows[0].orders;
}

/** Deadlocks that this database has seen. */
export async function countDeadlocks(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  );
  return rows[0].deadlocks;
}
