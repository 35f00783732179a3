import knex, { type Knex } from 'knex';
import pg from 'pg';

/** How to reach Postgres; times in milliseconds. */
export interface ConnectOptions {
  url: string;
  /** Connections that one process may hold. */
  poolSize: number;
  /** Named prepared statements; off behind a pooler in transaction mode. */
  prepared: boolean;
  /**
   * After this long without an answer a query fails, and its connection is given up. Postgres is told to cancel it a little sooner, so
   * that no backend goes on waiting for a lock that nobody wants any more; not behind a pooler, which takes no such setting.
   */
  queryTimeout?: number;
  applicationName?: string;
  /** Whether its statements join many rows with many. */
  bulk?: boolean;
}

/** A pool for the hot statements. It connects when first used, so creating one never fails. */
export interface Database {
  pool: pg.Pool;
  prepared: boolean;
}

/** What a statement can run on: a pool, or the one connection of a transaction. */
export interface Connection {
  pool: Pick<pg.ClientBase, 'query'>;
  prepared: boolean;
}

/** A statement that is planned once for each connection under its name, where that is allowed. */
export interface Statement {
  name: string;
  text: string;
}

// bigint as a number: ids of orders, audit events and rejected deliveries, and counts, are far below 2^53. numeric stays
// text, so that money is never a float.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/**
 * A statement that is planned once must be planned for a table of any size. What fits a table that is nearly empty, or one that was never
 * analyzed, is a sequential scan, and a plan that is kept would go on with it for a million rows. A pooler takes no such setting, but
 * there nothing is kept: each statement is planned for what it finds.
 */
const STABLE_PLANS = '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off';

/** For the same reason: a parameter that is an array counts as ten rows, and ten rows are joined by comparing each with each. */
const BULK_JOINS = '-c enable_nestloop=off';

/**
 * What Postgres itself ends. A transaction whose process is stopped between two statements would hold its locks for as long as TCP takes,
 * and `dispatchable_orders` shows nothing that came after it.
 */
function limits(queryTimeout: number | undefined) {
  if (queryTimeout === undefined) return {};
  return { statement_timeout: Math.ceil(queryTimeout * 0.9), idle_in_transaction_session_timeout: queryTimeout };
}

function connectionConfig(options: Omit<ConnectOptions, 'poolSize'>) {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'orders',
    connectionTimeoutMillis: Math.min(options.queryTimeout ?? 5000, 5000),
    query_timeout: options.queryTimeout,
    ...(options.prepared && limits(options.queryTimeout)),
    ...(options.prepared && { options: options.bulk ? `${STABLE_PLANS} ${BULK_JOINS}` : STABLE_PLANS }),
    keepAlive: true,
    types,
  };
}

/** Opens a pool; the caller closes it with `closeDatabase`. */
export function openDatabase(options: ConnectOptions): Database {
  const pool = new pg.Pool({ ...connectionConfig(options), max: options.poolSize, idleTimeoutMillis: 30_000 });
  // An idle connection that Postgres closes is replaced at the next query, which reports what is wrong.
  pool.on('error', () => {});
  return { pool, prepared: options.prepared };
}

export async function closeDatabase(database: Database): Promise<void> {
  await database.pool.end();
}

/** How a pool does: connections in use and idle, who waits for one, and how many it may hold. */
export function poolState({ pool }: Database): { busy: number; idle: number; waiting: number; size: number } {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount, size: options.max };
}

/** The same of knex' pool. */
export function knexPoolState(knex: Knex): ReturnType<typeof poolState> {
  const { pool } = knex.client;
  return {
    busy: pool.numUsed(),
    idle: pool.numFree(),
    waiting: pool.numPendingAcquires(),
    size: pool.max,
  };
}

/** Opens knex for what is not hot: migrations, accounts, the operator's commands. The caller calls `destroy`. */
export function openKnex(
  options: Pick<ConnectOptions, 'url' | 'applicationName' | 'queryTimeout'> &
    Partial<Pick<ConnectOptions, 'prepared' | 'poolSize'>>,
): Knex {
  // Nothing is kept, so each statement is planned for what it finds.
  const connection = {
    ...connectionConfig({ ...options, prepared: false }),
    ...(options.prepared && limits(options.queryTimeout)),
  } as Knex.PgConnectionConfig;
  // knex would print what it also throws.
  const silent = () => {};
  const log = { warn: silent, error: silent, deprecate: silent, debug: silent };
  return knex({ client: 'pg', connection, pool: { min: 0, max: options.poolSize ?? 4 }, log });
}

/**
 * Connects, so that what keeps it from that is told from what is wrong with a statement.
 *
 * @throws the connection's error, or {pg.DatabaseError} by which Postgres refused it.
 */
export async function connect(db: Knex): Promise<void> {
  await db.raw('select 1');
}

/**
 * Runs a hot statement, on a pool in a transaction of its own.
 *
 * @throws {pg.DatabaseError} with a SQLSTATE, or a connection's error without one.
 */
export async function run<Row extends object>(
  database: Connection,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const named = database.prepared ? { name: statement.name } : {};
  const { rows } = await database.pool.query<Row>({ ...named, text: statement.text, values });
  return rows;
}

/** A connection that breaks tells so by whatever query is next; its event, which nobody hears, would end the process. */
const ignoreConnectionErrors = () => {};

async function checkOut({ pool }: Database): Promise<pg.PoolClient> {
  const client = await pool.connect();
  return client.on('error', ignoreConnectionErrors);
}

/** @param isLost whether the connection is given up. */
function checkIn(client: pg.PoolClient, isLost: boolean): void {
  client.off('error', ignoreConnectionErrors).release(isLost);
}

/** Settings of Postgres for one transaction; times in milliseconds. */
export type LocalSettings = Record<string, string | number>;

function beginUnder(settings: LocalSettings): string {
  return ['begin', ...Object.entries(settings).map(([name, value]) => `set local ${name} = ${value}`)].join('; ');
}

/** Works in a transaction, which is rolled back when that fails; its connection is then given up. */
export async function inTransaction<T>(
  database: Database,
  work: (connection: Connection) => Promise<T>,
  settings: LocalSettings = {},
): Promise<T> {
  const client = await checkOut(database);
  let isCommitted = false;
  try {
    await client.query(beginUnder(settings));
    const result = await work({ pool: client, prepared: database.prepared });
    await client.query('commit');
    isCommitted = true;
    return result;
  } finally {
    checkIn(client, !isCommitted);
  }
}

/**
 * Works in a transaction that is rolled back, however that ends, under settings of its own. Its statements are planned for what they find.
 */
export async function inRolledBackTransaction<T>(
  database: Database,
  settings: LocalSettings,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const client = await checkOut(database);
  let isLost = false;
  try {
    await client.query(beginUnder(settings));
    return await work({ pool: client, prepared: false });
  } finally {
    await client.query('rollback').catch(() => {
      isLost = true;
    });
    checkIn(client, isLost);
  }
}

const PING = { name: 'ping', text: 'select 1' };
const TIMEOUT_MS = 2000;

/** Whether Postgres answers, within two seconds. */
export function isReachable(database: Database): Promise<boolean> {
  const answer = run(database, PING, []).then(
    () => true,
    () => false,
  );
  return withTimeoutOr(answer, false);
}

/** The answer, or `otherwise` when it takes longer than two seconds; what is too late is forgotten. */
export async function withTimeoutOr<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.resolve(otherwise), TIMEOUT_MS);
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
