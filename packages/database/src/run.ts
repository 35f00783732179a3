import pg from 'pg';
import type { Database } from './connect.ts';
import { isConnectionError, SQLSTATE, sqlstateOf } from './database-errors.ts';

/** The advisory locks of this service. A number must be unique in the database. */

/** Exclusive while migrations run. */
export const MIGRATION_LOCK = 7_310_441;
/** Exclusive while a partition is checked and dropped; shared for redrives, the only way in which a final receipt becomes pending. */
export const RETENTION_LOCK = 7_310_442;
/** Exclusive for the worker that rolls up the activity. */
export const ACTIVITY_LOCK = 7_310_443;
/** Exclusive for the worker that fills the search terms. */
export const SEARCH_TERMS_LOCK = 7_310_444;
/** Exclusive for the worker that publishes events. */
export const PUBLISH_LOCK = 7_310_445;
/** With the hash of an e-mail address as second key: exclusive while the invitation of the address is accepted. */
export const INVITATION_LOCK = 7_310_446;

/** Exclusive while orders are archived. */
export const ARCHIVE_LOCK = 7_310_447;

/** With the id of an account as second key: exclusive while the next order of a reviewer is chosen. */
export const NEXT_ORDER_LOCK = 7_310_448;

/** With the id of an account as second key: exclusive while the account is being moved. */
export const ACCOUNT_MOVE_LOCK = 7_310_449;

/** A pool, or the connection of a transaction. */
export interface Connection {
  pool: Pick<pg.ClientBase, 'query'>;
  prepared: boolean;
}

/** A statement that is prepared under its name and planned once per connection, if `prepared` is set. */
export interface Statement {
  name: string;
  text: string;
}

/**
 * Runs a statement; on a pool, in its own transaction.
 *
 * @param statement a text is planned each time.
 * @returns the rows that it selects or returns.
 * @throws {pg.DatabaseError} with a SQLSTATE, or a connection error without one.
 */
export async function run<Row extends object>(
  database: Connection,
  statement: Statement | string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { text, ...named } = typeof statement === 'string' ? { text: statement } : statement;
  const { rows } = await database.pool.query<Row>({ ...(database.prepared && named), text, values });
  return rows;
}

/**
 * SQL: the conditions of a filter whose values are given, joined by `and`. A condition that holds for a null parameter would have a plan
 * that fits all parameters, which reads the whole table.
 *
 * @param values of the statement; those of the conditions are added.
 * @param filter by condition, with `?` for its value; undefined for a condition that is left out.
 */
export function matching(values: unknown[], filter: Record<string, unknown>): string {
  const conditions = Object.entries(filter).flatMap(([condition, value]) =>
    value === undefined ? [] : condition.replaceAll('?', `$${values.push(value)}`),
  );
  return conditions.length > 0 ? conditions.join(' and ') : 'true';
}

/**
 * A column as the array of a parameter of `unnest`; null if it has no value, as Postgres then fills it with nulls. An array of nulls costs the
 * driver and Postgres as much as one of short texts, and most optional fields are absent from all orders of a batch.
 */
export function columnOf<Value>(values: Value[]): Value[] | null {
  return values.every((value) => value === null) ? null : values;
}

/** As `run`, for a statement without rows. @returns how many rows it inserted, changed or deleted. */
export async function execute(database: Connection, text: string, values: unknown[] = []): Promise<number> {
  return (await database.pool.query({ text, values })).rowCount ?? 0;
}

/** The next query reports a broken connection. Without a listener, the error event would end the process. */
const ignoreConnectionErrors = () => {};

async function checkOut({ pool }: Database): Promise<pg.PoolClient> {
  const client = await pool.connect();
  return client.on('error', ignoreConnectionErrors);
}

/** @param isLost whether to close the connection. */
function checkIn(client: pg.PoolClient, isLost: boolean): void {
  client.off('error', ignoreConnectionErrors).release(isLost);
}

/**
 * Like `run`, and when it fails, its transaction is over, so that another try does not meet its locks. Postgres reports an error before it ends
 * the transaction, and answers the next query after that.
 */
export async function runToEnd<Row extends object>(
  database: Connection,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  if (!(database.pool instanceof pg.Pool)) return run<Row>(database, statement, values);
  const { pool, prepared } = database;
  const client = await checkOut({ pool, prepared });
  let isLost = false;
  try {
    return await run<Row>({ pool: client, prepared }, statement, values);
  } catch (error) {
    isLost = sqlstateOf(error) === null;
    if (!isLost) await client.query('').catch(() => (isLost = true));
    throw error;
  } finally {
    checkIn(client, isLost);
  }
}

/** Postgres settings for one transaction; times in milliseconds. */
type LocalSettings = Record<string, string | number>;

function beginUnder(settings: LocalSettings): string {
  return ['begin', ...Object.entries(settings).map(([name, value]) => `set local ${name} = ${value}`)].join('; ');
}

/** @returns whether the connection is lost. */
function rollBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => false,
    () => true,
  );
}

/** Takes the place of a connection whose transaction has ended, as another one may use that already. */
const ENDED: Connection['pool'] = {
  query() {
    throw new Error('the transaction has ended');
  },
};

/**
 * Runs work in a transaction. In the connection of a transaction it becomes a part of that one. If it fails, the whole transaction is rolled
 * back; after a connection error by closing the connection, which may hang.
 */
export async function inTransaction<T>(
  connection: Connection,
  work: (connection: Connection) => Promise<T>,
  settings: LocalSettings = {},
): Promise<T> {
  if (!isDatabase(connection)) return work(connection);
  const client = await checkOut(connection);
  const transaction: Connection = { pool: client, prepared: connection.prepared };
  let isLost = false;
  try {
    await client.query(beginUnder(settings));
    const result = await work(transaction);
    await client.query('commit');
    return result;
  } catch (error) {
    transaction.pool = ENDED;
    isLost = isConnectionError(error) || (await rollBack(client));
    throw error;
  } finally {
    transaction.pool = ENDED;
    checkIn(client, isLost);
  }
}

function isDatabase(connection: Connection): connection is Database {
  return connection.pool instanceof pg.Pool;
}

/** Runs work in a transaction that is always rolled back, with the given settings. Its statements are not prepared. */
export async function inRolledBackTransaction<T>(
  database: Database,
  settings: LocalSettings,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const client = await checkOut(database);
  try {
    await client.query(beginUnder(settings));
    return await work({ pool: client, prepared: false });
  } finally {
    checkIn(client, await rollBack(client));
  }
}

/**
 * Repeats a statement that removes up to `chunkSize` rows until it removes fewer, so that no statement takes long or holds locks for long,
 * whatever has accumulated.
 *
 * @param removeChunk returns how many rows it removed.
 * @param signal stops it between two chunks.
 * @returns the number of removed rows.
 */
export async function removeChunks(
  chunkSize: number,
  removeChunk: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let count = chunkSize; count === chunkSize && !signal?.aborted; removed += count) count = await removeChunk();
  return removed;
}

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
