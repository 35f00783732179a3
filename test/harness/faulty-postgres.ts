import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openKnex } from '@orders/database';
import { ensureDatabase, freePort, startFaultyPostgres as startServer } from '@orders/local-services';
import { migrateQueue } from '@orders/queue';
import type { TestDatabase } from './database.ts';

/** A Postgres that a test can kill and start again on its data. */
export interface FaultyPostgres extends TestDatabase {
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startFaultyPostgres(): Promise<FaultyPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-postgres-'));
  await chmod(directory, 0o755);
  const server = await startServer({
    directory: join(directory, 'postgres'),
    password: 'test',
    port: await freePort(),
  });
  const { url, kill, start } = server;
  await ensureDatabase(url);
  const knex = openKnex({ url, applicationName: 'orders test' });
  await migrate(knex);
  await migrateQueue(url);
  return {
    url,
    knex,
    kill,
    start,
    async close() {
      await knex.destroy();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
