import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openKnex } from '@orders/database';
import { ensureDatabase, freePort, type LocalPostgres, startPostgres } from '@orders/local-services';
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
  const options = { directory: join(directory, 'postgres'), password: 'test', port: await freePort() };
  let postgres: LocalPostgres = await startPostgres(options);
  const { url } = postgres;
  await ensureDatabase(url);
  const knex = openKnex({ url, applicationName: 'orders test' });
  await migrate(knex);
  await migrateQueue(url);
  return {
    url,
    knex,
    kill: () => postgres.stop('SIGKILL'),
    async start() {
      postgres = await startPostgres(options);
    },
    async close() {
      await knex.destroy();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
