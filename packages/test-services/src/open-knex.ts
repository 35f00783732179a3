import { closeDatabase, connectionConfig, type Database, openDatabase } from '@orders/database/connect.ts';
import knex, { type Knex } from 'knex';

interface KnexOptions {
  url: string;
  applicationName?: string;
  /** Milliseconds. */
  queryTimeout?: number;
  prepared?: boolean;
  poolSize?: number;
}

/** By the client of a knex, as tests may have a stand-in for the knex itself. */
const databases = new WeakMap<object, Database>();

/** Opens knex, by which tests and measurements read and change rows. The caller calls `destroy`, which also closes what `connectionOf` gives. */
export function openKnex({ prepared = false, poolSize = 4, ...options }: KnexOptions): Knex {
  const connection = connectionConfig({ ...options, prepared, replans: true }) as Knex.PgConnectionConfig;
  // knex logs errors that it also throws.
  const silent = () => {};
  const log = { warn: silent, error: silent, deprecate: silent, debug: silent };
  const opened = knex({ client: 'pg', connection, pool: { min: 0, max: poolSize }, log });
  const database = openDatabase({ ...options, poolSize, prepared, replans: true });
  databases.set(opened.client, database);
  const destroy = opened.destroy.bind(opened) as () => Promise<void>;
  const close = async () => {
    await destroy();
    if (!database.pool.ended) await closeDatabase(database);
  };
  return Object.defineProperty(opened, 'destroy', { value: close });
}

/** A pool with the options of a knex of `openKnex`; for a transaction of knex, its connection. */
export function connectionOf(opened: Knex): Database {
  const database = databases.get(opened.client);
  if (database) return database;
  const client = opened.client as { acquireConnection(): Promise<Database['pool']> };
  const query = async (statement: object) => (await client.acquireConnection()).query(statement as { text: string });
  return { pool: { query }, prepared: false } as unknown as Database;
}

/** Opens knex for some work, and destroys it afterwards. */
export async function withKnex<Result>(options: KnexOptions, work: (opened: Knex) => Promise<Result>): Promise<Result> {
  const opened = openKnex(options);
  try {
    return await work(opened);
  } finally {
    await opened.destroy();
  }
}
