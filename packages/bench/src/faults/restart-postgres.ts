import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from './deployment.ts';
import { withClient } from './with-client.ts';

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
