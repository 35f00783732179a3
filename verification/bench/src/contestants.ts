import { randomBytes } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { mainOf, runOrdersOf } from '@orders/test-services/apps.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';
import { createOrderQueue } from './contestants/fastify-pg-boss/order-queue.ts';
import { ACCOUNT_ID, makePlainTables } from './contestants/plain-orders.ts';

/** A service to measure: an intake process and worker replicas on the services of the benchmark. */
export interface Contestant {
  name: string;
  intake: string;
  /** Null if nothing is stored. */
  worker: string | null;
  /** Intakes and workers, each; default 1. */
  replicas?: number;
  /** Creates its tables. */
  prepare(databaseUrl: string, redisUrl: string): Promise<Prepared>;
}

interface Prepared {
  env: Record<string, string>;
  /** The connections use them in rotation. */
  apiKeys: string[];
  /** The accounts of the orders in the table. */
  accountIds: number[];
}

const CONTESTANTS = resolve(import.meta.dirname, 'contestants');
/** Several accounts, so that the orders of a run do not all go to one place of an index. */
const ACCOUNTS = 8;

/** A contestant with plain tables, whose folder contains `intake.ts` and `worker.ts`. */
function peer(name: string, folder: string, createQueue?: (databaseUrl: string) => Promise<void>): Contestant {
  return {
    name,
    intake: `${CONTESTANTS}/${folder}/intake.ts`,
    worker: `${CONTESTANTS}/${folder}/worker.ts`,
    async prepare(databaseUrl, redisUrl) {
      await makePlainTables(databaseUrl);
      await createQueue?.(databaseUrl);
      return { env: { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl }, apiKeys: ['none'], accountIds: [ACCOUNT_ID] };
    },
  };
}

/** The settings of this service. */
const settingsOf = (databaseUrl: string, queueUrl: string) => ({
  DATABASE_URL: databaseUrl,
  QUEUE_URL: queueUrl,
  SECRETS_KEY: randomBytes(32).toString('base64'),
  LOG_LEVEL: 'info',
  LOG_FORMAT: 'json',
});

function ours(name: string, queueUrl: (urls: { databaseUrl: string; redisUrl: string }) => string): Contestant {
  return {
    name,
    intake: mainOf('intake'),
    worker: mainOf('worker'),
    async prepare(databaseUrl, redisUrl) {
      const env = settingsOf(databaseUrl, queueUrl({ databaseUrl, redisUrl }));
      await migrateQueue(env.QUEUE_URL);
      const keys = await withKnex({ url: databaseUrl }, async (knex) => {
        await migrate(connectionOf(knex));
        return Promise.all(Array.from({ length: ACCOUNTS }, () => makeKey(knex)));
      });
      return { env, apiKeys: keys.map(({ key }) => key), accountIds: keys.map(({ accountId }) => accountId) };
    },
  };
}

/**
 * This service at another commit, set up by that commit's own commands.
 *
 * @param directory a checkout in which `npm run setup` was run.
 */
export function checkout(directory: string): Contestant {
  const root = resolve(directory);
  return {
    name: basename(root),
    intake: mainOf('intake', root),
    worker: mainOf('worker', root),
    async prepare(databaseUrl, redisUrl) {
      const env = settingsOf(databaseUrl, redisUrl);
      const orders = (...args: string[]) => runOrdersOf(root, env, ...args);
      await orders('migrate');
      const apiKeys: string[] = [];
      const accountIds: number[] = [];
      while (apiKeys.length < ACCOUNTS) {
        const name = `Bench ${apiKeys.length + 1}`;
        accountIds.push(JSON.parse(await orders('accounts', 'create', name, '--json')).account_id);
        apiKeys.push(JSON.parse(await orders('keys', 'create', name, '--json')).key);
      }
      return { env, apiKeys, accountIds };
    },
  };
}

async function makeKey(knex: Knex): Promise<{ accountId: number; key: string }> {
  const { account_id: accountId } = await createAccount(connectionOf(knex), 'Bench');
  const { key } = await createKey(connectionOf(knex), accountId, 'bench');
  return { accountId, key };
}

/** Stores nothing. */
const ceiling = (name: string): Contestant => ({
  name,
  intake: `${CONTESTANTS}/${name}/intake.ts`,
  worker: null,
  prepare: async () => ({ env: {}, apiKeys: ['none'], accountIds: [] }),
});

export const CEILING = ceiling('ceiling');
/** For large orders: reading only the id of many items is no comparison. */
export const VALIDATING = ceiling('validating');
export const OBVIOUS = peer('obvious', 'obvious');
export const PEER = peer('fastify+pg-boss', 'fastify-pg-boss', createOrderQueue);
export const OURS = ours('ours', ({ redisUrl }) => redisUrl);
export const OURS_ON_POSTGRES = ours('ours-on-postgres', ({ databaseUrl }) => databaseUrl);
export const ALL: readonly Contestant[] = [CEILING, OBVIOUS, PEER, OURS, OURS_ON_POSTGRES];
