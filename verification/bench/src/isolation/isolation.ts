import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSource } from '@orders/database/sources/change-sources.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import type pg from 'pg';
import type { Bench } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { makeOrder } from '../make-order.ts';
import type { Services } from '../services.ts';
import { type Running, withOurs } from '../start-contestant.ts';
import { withDriver } from '../start-driver.ts';
import { type Quantiles, quantiles } from '../statistics.ts';
import { table } from '../tables.ts';
import { type AttackRequest, attack, attackRequest, deepItem, largestOrder, uniqueKeyItem } from './attack.ts';
import { HOSTILE_MAPPINGS, TOKEN } from './hostile-mappings.ts';

/** Latencies of a polite account's orders, in milliseconds. */
interface Latencies {
  /** From the time at which they were due to their 202. */
  accepted: Quantiles;
  /** From their receipt to their end. */
  written: Quantiles;
}

/** The same during an attack of another account. */
interface Attacked extends Latencies {
  name: string;
  /** Rejected requests of the polite account. */
  rejected: number;
  /** Replies to the attack, by status. */
  replies: Record<string, number>;
}

const PER_SECOND = 50;
const WARM_UP_SECONDS = 3;

interface Hostile {
  url: string;
  key: string;
  /** The ids of its sources, one for each of `HOSTILE_MAPPINGS`. */
  sourceIds: readonly string[];
}

interface Attack {
  name: string;
  connections: number;
  restMs?: number;
  requestOf(hostile: Hostile, number: number): AttackRequest;
}

const LARGEST_ORDER = largestOrder('x');
const SLOW_ORDERS = [largestOrder('unique', uniqueKeyItem), largestOrder('deep', deepItem)];
/** With separators below the 8 MiB of a batch. */
const LARGEST_BATCH = `[${Array.from({ length: 31 }, (_, index) => largestOrder(`batch-${index}`)).join()}]`;

const CANCELLATIONS = JSON.stringify({
  cancellations: Array.from({ length: 1000 }, (_, index) => ({ source_order_id: `again-${index}` })),
});
const orderAgain = (number: number) => JSON.stringify({ source_order_id: `again-${number % 1000}`, total: number });

const ATTACKS: Attack[] = [
  {
    name: 'small orders on 64 connections',
    connections: 64,
    restMs: 0,
    requestOf: ({ url, key }, number) => attackRequest(url, 'orders', key, makeOrder(`flood-${number}`, number)),
  },
  {
    name: '120 of the largest orders at once',
    connections: 120,
    requestOf: ({ url, key }) => attackRequest(url, 'orders', key, LARGEST_ORDER),
  },
  {
    name: '120 orders that parse slowly',
    connections: 120,
    requestOf: ({ url, key }, number) => attackRequest(url, 'orders', key, SLOW_ORDERS[number % 2]),
  },
  {
    name: '300 previews of the largest order',
    connections: 300,
    requestOf: ({ url, key }) => attackRequest(url, 'preview', key, LARGEST_ORDER),
  },
  {
    name: 'batches of 8 MB on 16 connections',
    connections: 16,
    restMs: 0,
    requestOf: ({ url, key }) => attackRequest(url, 'orders/batch', key, LARGEST_BATCH),
  },
  {
    name: '40 replays of one key with other content',
    connections: 40,
    requestOf({ url, key }, number) {
      const order = largestOrder('content', undefined, { area: `${number % 40}` });
      return attackRequest(url, 'orders', key, order, { 'Idempotency-Key': 'content' });
    },
  },
  {
    name: 'cancellations and resends of the same orders',
    connections: 9,
    restMs: 0,
    requestOf: ({ url, key }, number) =>
      number % 9 === 0
        ? attackRequest(url, 'orders/cancel', key, CANCELLATIONS)
        : attackRequest(url, 'orders', key, orderAgain(number)),
  },
  {
    name: 'unknown keys on 64 connections',
    connections: 64,
    restMs: 0,
    requestOf: ({ url }) => attackRequest(url, 'orders', `oik_${randomBytes(24).toString('hex')}`, '{}'),
  },
  {
    name: 'status look-ups on 100 connections',
    connections: 100,
    restMs: 20,
    requestOf: ({ url, key }) => attackRequest(url, 'status/019be0e0-0000-7000-8000-000000000000', key),
  },
  ...HOSTILE_MAPPINGS.map(
    ({ name, body }, at): Attack => ({
      name: `120 deliveries at once with ${name}`,
      connections: 120,
      requestOf: ({ url, key, sourceIds }) =>
        attackRequest(url, `sources/${sourceIds[at]}`, key, body, { 'X-Token': TOKEN_SECRET }),
    }),
  ),
];

const TOKEN_SECRET = 'the secret of hostile sources';

/** Creates the sources of the hostile account. @returns their ids. */
function createHostileSources(databaseUrl: string, secretsKey: Buffer, accountId: number): Promise<string[]> {
  return withKnex({ url: databaseUrl }, async (knex) => {
    const sourceIds: string[] = [];
    for (const { name, mapping } of HOSTILE_MAPPINGS) {
      const source = { accountId, name, preset: 'custom' as const, settings: TOKEN, mapping, secret: TOKEN_SECRET };
      const { source_id } = await createSource(connectionOf(knex), secretsKey, source, 'bench');
      sourceIds.push(source_id);
    }
    return sourceIds;
  });
}

/** Measures a polite account that sends 50 requests a second, alone and then beside each attack, alternately. */
export const isolation: Bench = {
  name: 'isolation',
  description: 'Measures the orders of one account beside attacks of another, and alone.',
  help: 'Exit code 0: none of its requests was rejected. 1: some were, or it could not run. 2: wrong usage.',
  async run(services, { seconds }) {
    const { quiet, attacks } = await measure(services, seconds);
    return {
      text: render(quiet, attacks),
      results: { quiet, attacks },
      hasFailed: attacks.some(({ rejected }) => rejected > 0),
    };
  },
};

function measure(services: Services, seconds: number): Promise<{ quiet: Latencies; attacks: Attacked[] }> {
  const secretsKey = randomBytes(32);
  const env = { SECRETS_KEY: secretsKey.toString('base64') };
  const work = ({ client, databaseUrl, urls: [orders = ''], apiKeys, accountIds }: Running) =>
    withDriver(async (driver) => {
      const { origin: url } = new URL(orders);
      const [politeKey, key] = apiKeys as [string, string];
      const sourceIds = await createHostileSources(databaseUrl, secretsKey, accountIds[1] as number);
      const hostile = { url, key, sourceIds };
      const beside = async (prefix: string, meanwhile: () => Promise<unknown>) => {
        const load = { url, key: politeKey, perSecond: PER_SECOND, prefix };
        const run = await driver.sendPolitely(load, meanwhile);
        return { ...run, written: await readWritten(client, run.receiptIds) };
      };
      printProgress('Warming up …');
      await beside('warm', () => sleep(WARM_UP_SECONDS * 1000));
      const quiet = { orders: [] as number[], written: [] as number[] };
      const attacks: Attacked[] = [];
      for (const [index, { name, connections, restMs, requestOf }] of ATTACKS.entries()) {
        printProgress(`Alone, then beside ${name} …`);
        const alone = await beside(`quiet-${index}`, () => sleep(seconds * 1000));
        quiet.orders.push(...alone.orders);
        quiet.written.push(...alone.written);
        let replies: Record<string, number> = {};
        const run = await beside(`attacked-${index}`, async () => {
          const signal = AbortSignal.timeout(seconds * 1000);
          const options = { connections, signal, ...(restMs !== undefined && { restMs }) };
          ({ replies } = await attack((number) => requestOf(hostile, number), options));
        });
        const rejected = Object.values(run.rejected).reduce((sum, count) => sum + count, 0);
        attacks.push({ name, ...latenciesOf(run), rejected, replies });
      }
      return { quiet: latenciesOf(quiet), attacks };
    });
  return withOurs(services, work, { env });
}

const latenciesOf = ({ orders, written }: { orders: number[]; written: number[] }): Latencies => ({
  accepted: quantiles(orders),
  written: quantiles(written),
});

/** The time from the receipt to the end of each, in milliseconds; waits until all have ended. */
async function readWritten(client: pg.Client, receiptIds: readonly string[]): Promise<number[]> {
  for (;;) {
    const { rows } = await client.query<{ ms: number; ended: boolean }>(
      `select date_part('epoch', updated_at - received_at) * 1000 as ms, state in ('written', 'duplicate') as ended
       from receipts where receipt_id = any($1::uuid[])`,
      [receiptIds],
    );
    if (rows.every(({ ended }) => ended)) return rows.map(({ ms }) => ms);
    await sleep(100);
  }
}

function render(quiet: Latencies, attacks: readonly Attacked[]): string {
  const valuesOf = ({ accepted, written }: Latencies) => [accepted.p50, accepted.p99, written.p50, written.p99];
  const alone = valuesOf(quiet);
  const rows = attacks.map(({ name, rejected, replies, ...latencies }) => [
    name,
    ...valuesOf(latencies).map((value, at) => `${value.toFixed(0)} (${(value / (alone[at] as number)).toFixed(1)} ×)`),
    String(rejected),
    Object.entries(replies)
      .map(([reply, count]) => `${count} × ${reply}`)
      .join(', '),
  ]);
  const head = ['beside', 'accepted p50, ms', 'p99, ms', 'written p50, ms', 'p99, ms', 'rejected', 'the attack'];
  return [
    'An order of one account beside attacks of another: from its due time to its 202, and from its receipt to its end; × alone.',
    table(head, [['nothing', ...alone.map((value) => value.toFixed(0))], ...rows]),
  ].join('\n\n');
}
