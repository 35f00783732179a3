import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { ensureDatabase, withClient } from '@orders/test-services/databases.ts';
import { startFaultyPostgres as startServer } from '@orders/test-services/faulty-postgres.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { closeAtEnd } from './close-at-end.ts';
import { PREPARED, type TestDatabase } from './database.ts';
import { startPgBouncer } from './pgbouncer.ts';

/** A Postgres that a test can kill and restart with its data. */
export interface FaultyPostgres extends TestDatabase {
  /** Its data directory. `close` removes the parent directory. */
  directory: string;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** The owner of a database that is moved to or from. */
const OWNER = `
create role mover login password 'test' replication;
grant pg_create_subscription to mover;
alter database orders owner to mover`;

/**
 * @param settings of Postgres, such as `wal_keep_size=128MB`.
 * @param options.direct without a pooler.
 * @param options.moves the owner of the database is no superuser, and has what `orders accounts move` takes.
 * @param options.installation the number of the installation.
 */
export async function startFaultyPostgres(
  settings: string[] = [],
  { direct = false, installation = 0, moves = false } = {},
): Promise<FaultyPostgres> {
  const parent = await mkdtemp(join(tmpdir(), 'orders-postgres-'));
  await chmod(parent, 0o755);
  const directory = join(parent, 'postgres');
  const server = await startServer({
    directory,
    settings,
    password: 'test',
    port: await freePort(),
  });
  const { kill, start } = server;
  await ensureDatabase(server.url);
  if (moves) await withClient(server.url, (client) => client.query(OWNER));
  const directUrl = moves ? Object.assign(new URL(server.url), { username: 'mover' }).href : server.url;
  const pooler = direct || PREPARED ? null : await startPgBouncer(directUrl);
  const url = pooler?.through(directUrl) ?? directUrl;
  const knex = openKnex({ url, applicationName: 'orders test' });
  const db = connectionOf(knex);
  await migrate(db, { installation });
  await migrateQueue(directUrl);
  return closeAtEnd<FaultyPostgres>({
    url,
    directUrl,
    directory,
    knex,
    db,
    kill,
    start,
    async close() {
      await knex.destroy();
      await pooler?.close();
      await server.close();
      await rm(parent, { recursive: true, force: true });
    },
  });
}
