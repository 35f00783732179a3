import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
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
  { launch, directory, secretsKey }: Deployment,
  ends: (() => Promise<unknown>)[],
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
  await withKnex({ url }, async (knex) => {
    await migrate(connectionOf(knex), { installation: 1 });
    // Its secret shows that the SECRETS_KEY is the same.
    const { account_id: accountId } = await createAccount(connectionOf(knex), 'A neighbour');
    await enableSigning(connectionOf(knex), secretsKey, accountId);
  });
  await migrateQueue(url);
  const [port, adminPort] = [await freePort(), await freePort()];
  const stores = { DATABASE_URL: url, QUEUE_URL: url };
  for (const [app, ports] of [
    ['intake', { PORT: String(port), ADMIN_PORT: String(adminPort) }],
    ['worker', {}],
  ] as const)
    ends.push((await launch(app, `${app}-there`, { ...stores, ...ports })).close);
  return {
    url,
    intakeUrl: `http://127.0.0.1:${port}`,
    async restart() {
      await postgres.kill();
      await postgres.start();
    },
  };
}
