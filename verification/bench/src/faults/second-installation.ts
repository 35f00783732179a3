import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { ensureDatabase } from '@orders/test-services/databases.ts';
import { startFaultyPostgres } from '@orders/test-services/faulty-postgres.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import type { Deployment } from './deployment.ts';

/** A second installation, with a higher number. */
export interface Installation {
  url: string;
  /** Of its intake. */
  intakeUrl: string;
  /** Kills its Postgres, and starts it again. */
  restart(): Promise<void>;
}

/** Starts a Postgres of its own, with its queue, and an intake and a worker on it. What it starts is added to `ends`. */
export async function startInstallation(
  { launch, directory }: Deployment,
  ends: (() => Promise<void>)[],
): Promise<Installation> {
  const place = join(directory, randomUUID());
  await mkdir(place, { mode: 0o755 });
  ends.push(() => rm(place, { recursive: true, force: true }));
  const postgres = await startFaultyPostgres({
    directory: join(place, 'postgres'),
    password: 'faults',
    port: await freePort(),
    settings: ['wal_retrieve_retry_interval=200ms'],
  });
  ends.push(postgres.close);
  const { url } = postgres;
  await ensureDatabase(url);
  await withKnex({ url }, (knex) => migrate(connectionOf(knex), { installation: 1 }));
  await migrateQueue(url);
  const [port, adminPort] = [await freePort(), await freePort()];
  const stores = { DATABASE_URL: url, QUEUE_URL: url };
  await launch('intake', 'intake-there', { ...stores, PORT: String(port), ADMIN_PORT: String(adminPort) }, ends);
  await launch('worker', 'worker-there', stores, ends);
  return {
    url,
    intakeUrl: `http://127.0.0.1:${port}`,
    async restart() {
      await postgres.kill();
      await postgres.start();
    },
  };
}
