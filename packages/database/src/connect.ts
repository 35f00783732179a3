import pg from 'pg';

/** Times in milliseconds. */
export interface ConnectOptions {
  url: string;
  /** Max connections. */
  poolSize: number;
  /** Whether to use named prepared statements; false behind a pooler in transaction mode. */
  prepared: boolean;
  /**
   * A query that takes longer fails, and its connection is closed. A slightly shorter `statement_timeout` makes Postgres cancel it, so that
   * no backend waits for a lock that nobody needs; not behind a pooler, which accepts no such setting.
   */
  queryTimeout?: number;
  /** Until a connection is made, or one of the pool is free; by default half of `queryTimeout` but at least 5 seconds, and never more than it. */
  connectTimeout?: number;
  applicationName?: string;
  /** Whether statements join many rows with many. */
  bulk?: boolean;
  /** Whether each statement is planned anew, for the current sizes of its tables. */
  replans?: boolean;
}

/** A pool, which connects on first use, so creating it never fails. */
export interface Database {
  pool: pg.Pool;
  prepared: boolean;
}

// bigint is parsed to a number: ids and counts are far below 2^53. numeric stays a string, so that money is never a float.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/**
 * A statement that is planned once needs a plan that fits any table size. For a nearly empty or never analyzed table, the planner chooses a
 * sequential scan, and a cached plan would keep it for a million rows. A pooler accepts no such setting, but there no plan is cached.
 */
const STABLE_PLANS = '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off';

/** For the same reason: the planner assumes that an array parameter has ten rows, and would join it by a nested loop. */
const BULK_JOINS = '-c enable_nestloop=off';

/**
 * Server-side limits. If a process stops between two statements of a transaction, the transaction would otherwise hold its locks until the
 * TCP timeout.
 */
function limits(queryTimeout: number | undefined) {
  if (queryTimeout === undefined) return {};
  return { statement_timeout: Math.ceil(queryTimeout * 0.9), idle_in_transaction_session_timeout: queryTimeout };
}

const connectTimeoutFor = (queryTimeout: number) => Math.min(queryTimeout, Math.max(queryTimeout / 2, 5000));

/** How `pg` connects. */
export function connectionConfig(options: Omit<ConnectOptions, 'poolSize'>) {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'orders',
    connectionTimeoutMillis: options.connectTimeout ?? connectTimeoutFor(options.queryTimeout ?? 10_000),
    query_timeout: options.queryTimeout,
    ...(options.prepared && limits(options.queryTimeout)),
    ...(options.prepared &&
      !options.replans && { options: options.bulk ? `${STABLE_PLANS} ${BULK_JOINS}` : STABLE_PLANS }),
    keepAlive: true,
    types,
  };
}

/** Opens a pool; the caller closes it with `closeDatabase`. */
export function openDatabase(options: ConnectOptions): Database {
  const pool = new pg.Pool({ ...connectionConfig(options), max: options.poolSize, idleTimeoutMillis: 30_000 });
  // A closed idle connection is replaced at the next query, which reports errors.
  pool.on('error', () => {});
  return { pool, prepared: options.prepared && !options.replans };
}

export async function closeDatabase(database: Database): Promise<void> {
  await database.pool.end();
}

/** Connections in use and idle, callers that wait for one, and max connections. */
export function poolState({ pool }: Database): { busy: number; idle: number; waiting: number; size: number } {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount, size: options.max };
}

/** Opens a small pool for some work, and closes it afterwards. */
export async function withDatabase<Result>(
  options: Pick<ConnectOptions, 'url' | 'applicationName'>,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ ...options, poolSize: 2, prepared: false });
  try {
    return await work(database);
  } finally {
    await closeDatabase(database);
  }
}
