import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Deployment } from './deployment.ts';

const TIMEOUT_MS = 120_000;

/** Starts Postgres if it is down, also if it exits during this call, and resolves when it accepts queries. */
export async function restartPostgres({ postgres }: Deployment): Promise<void> {
  for (const startedAt = Date.now(); ; await sleep(50)) {
    try {
      if (!postgres.isRunning) await postgres.start();
      await withClient(postgres.url, (client) => client.query('select 1'));
      return;
    } catch (error) {
      if (Date.now() - startedAt > TIMEOUT_MS) throw error;
    }
  }
}

const CONNECT_MS = 30_000;

/** Runs work on a new connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // The running query reports the same error.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
