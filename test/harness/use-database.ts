import { beforeAll } from '@jest/globals';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { closeAtEnd } from './close-at-end.ts';
import { createTestDatabase, PREPARED, type TestDatabase } from './database.ts';
import { standIn } from './stand-in.ts';

/** A test database with a pool like those of the apps. */
export interface PooledDatabase extends TestDatabase {
  database: Database;
}

/**
 * Creates a database for the tests of a file, without any app. It can be used in tests and hooks.
 *
 * @param options `direct`: the pool goes around the pooler, for what depends on the session. `bulk`: as in the worker.
 */
export function useDatabase({ direct = false, poolSize = 1, bulk = false } = {}): {
  db: PooledDatabase;
  database: Database;
} {
  let db: PooledDatabase | undefined;
  beforeAll(async () => {
    const created = await createTestDatabase();
    const url = direct ? created.directUrl : created.url;
    const database = openDatabase({ url, poolSize, prepared: direct || PREPARED, bulk });
    closeAtEnd({ close: () => closeDatabase(database) });
    db = { ...created, database };
  });
  return { db: standIn('db', () => db), database: standIn('database', () => db?.database) };
}
