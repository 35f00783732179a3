import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '@orders/test-services/child.ts';
import pg from 'pg';
import { OURS } from '../contestants.ts';
import { percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';
import { type AttackRequest, attack, attackRequest, deepItem, largestOrder, uniqueKeyItem } from './attack.ts';
import type { PoliteLoad, PoliteMessage, PoliteRun } from './polite-sender.ts';

/** Latencies of a polite account's orders, in milliseconds. */
interface Latencies {
  /** From the time at which they were due to their 202. */
  p50: number;
  p99: number;
  /** From their receipt to their end. */
  written: { p50: number; p99: number };
}

/** The same during an attack of another account. */
export interface Attacked extends Latencies {
  name: string;
  /** Rejected requests of the polite account. */
  rejected: number;
  /** Replies to the attack, by status. */
  replies: Record<string, number>;
}

export interface Isolation {
  /** The same without an attack. */
  quiet: Latencies;
  attacks: Attacked[];
}

const PER_SECOND = 50;
const WARM_UP_SECONDS = 3;

interface Attack {
  name: string;
  connections: number;
  restMs?: number;
  requestOf(url: string, key: string): (number: number) => AttackRequest;
}

const LARGEST_ORDER = largestOrder('x');
const SLOW_ORDERS = [largestOrder('unique', uniqueKeyItem), largestOrder('deep', deepItem)];

const CANCELLATIONS = JSON.stringify(
  Array.from({ length: 1000 }, (_, index) => ({ source_order_id: `again-${index}` })),
);

const ATTACKS: Attack[] = [
  {
    name: '120 of the largest orders at once',
    connections: 120,
    requestOf: (url, key) => () => attackRequest(url, 'orders', key, LARGEST_ORDER),
  },
  {
    name: '120 orders that parse slowly',
    connections: 120,
    requestOf: (url, key) => (number) => attackRequest(url, 'orders', key, SLOW_ORDERS[number % 2]),
  },
  {
    name: '300 previews of the largest order',
    connections: 300,
    requestOf: (url, key) => () => attackRequest(url, 'preview', key, LARGEST_ORDER),
  },
  {
    name: '40 replays of one key with other content',
    connections: 40,
    requestOf: (url, key) => (number) =>
      attackRequest(url, 'orders', key, largestOrder('content', undefined, { area: `${number % 40}` }), {
        'Idempotency-Key': 'content',
      }),
  },
  {
    name: 'cancellations and resends of the same orders',
    connections: 9,
    restMs: 0,
    requestOf: (url, key) => (number) =>
      number % 9 === 0
        ? attackRequest(url, 'orders/cancel', key, CANCELLATIONS)
        : attackRequest(
            url,
            'orders',
            key,
            JSON.stringify({ source_order_id: `again-${number % 1000}`, total: number }),
          ),
  },
  {
    name: 'unknown keys on 64 connections',
    connections: 64,
    restMs: 0,
    requestOf: (url) => () => attackRequest(url, 'orders', `oik_${randomBytes(24).toString('hex')}`, '{}'),
  },
  {
    name: 'status look-ups on 100 connections',
    connections: 100,
    restMs: 20,
    requestOf: (url, key) => () => attackRequest(url, 'status/019be0e0-0000-7000-8000-000000000000', key),
  },
];

/** Measures a polite account that sends 50 requests a second, alone and then beside each attack, alternately. */
export async function runIsolation(
  services: Services,
  { seconds }: { seconds: number },
  printProgress: (text: string) => void,
): Promise<Isolation> {
  const databaseUrl = await services.fresh('isolation');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1 });
  const sender = await startChild(process.execPath, [join(import.meta.dirname, 'polite-sender.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  try {
    const { url, hostileKey, politeKey } = keysOf(running);
    const beside = (prefix: string, meanwhile: () => Promise<unknown>) =>
      sendPolitely(sender, { url, key: politeKey, perSecond: PER_SECOND, prefix }, meanwhile);
    printProgress('Warming up …');
    await beside('warm', () => sleep(WARM_UP_SECONDS * 1000));
    const quiet = { orders: [] as number[], written: [] as number[] };
    const attacks: Attacked[] = [];
    for (const [index, { name, connections, restMs, requestOf }] of ATTACKS.entries()) {
      printProgress(`Alone, then beside ${name} …`);
      const alone = await beside(`quiet-${index}`, () => sleep(seconds * 1000));
      quiet.orders.push(...alone.orders);
      quiet.written.push(...(await readWritten(databaseUrl, alone.receiptIds)));
      let replies: Record<string, number> = {};
      const { orders, rejected, receiptIds } = await beside(`attacked-${index}`, async () => {
        const signal = AbortSignal.timeout(seconds * 1000);
        const options = { connections, signal, ...(restMs !== undefined && { restMs }) };
        ({ replies } = await attack(requestOf(url, hostileKey), options));
      });
      attacks.push({
        name,
        ...latenciesOf(orders, await readWritten(databaseUrl, receiptIds)),
        rejected: Object.values(rejected).reduce((sum, count) => sum + count, 0),
        replies,
      });
    }
    return { quiet: latenciesOf(quiet.orders, quiet.written), attacks };
  } finally {
    await sender.stop();
    await running.stop();
    await services.drop(databaseUrl);
  }
}

function latenciesOf(orders: number[], written: number[]): Latencies {
  const percentiles = (values: number[]) => ({ p50: percentile(values, 0.5), p99: percentile(values, 0.99) });
  return { ...percentiles(orders), written: percentiles(written) };
}

/** The time from the receipt to the end of each, in milliseconds; waits until all have ended. */
async function readWritten(databaseUrl: string, receiptIds: readonly string[]): Promise<number[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ ms: number; ended: boolean }>(
        `select date_part('epoch', updated_at - received_at) * 1000 as ms, state in ('written', 'duplicate') as ended
         from receipts where receipt_id = any($1::uuid[])`,
        [receiptIds],
      );
      if (rows.every(({ ended }) => ended)) return rows.map(({ ms }) => ms);
      await sleep(100);
    }
  } finally {
    await client.end();
  }
}

function keysOf({ url, apiKeys }: Running) {
  const [politeKey, hostileKey] = apiKeys as [string, string];
  return { url: new URL(url).origin, politeKey, hostileKey };
}

async function sendPolitely(
  { process: sender }: Child,
  load: PoliteLoad,
  meanwhile: () => Promise<unknown>,
): Promise<PoliteRun> {
  sender.send(load);
  await meanwhile();
  sender.send('stop');
  for (;;) {
    const [message] = (await once(sender, 'message')) as [PoliteMessage];
    if ('run' in message) return message.run;
  }
}

/** Formats the results as a table. */
export function renderIsolation({ quiet, attacks }: Isolation): string {
  const number = (value: number) => value.toFixed(0).padStart(8);
  const row = (name: string, { p50, p99, written }: Latencies, rest: string) =>
    `${name.padEnd(46)} ${[p50, p99, written.p50, written.p99].map(number).join(' ')}  ${rest}`;
  const times = (value: number, alone: number) => `${(value / alone).toFixed(1)} ×`;
  return [
    'an order of one account beside attacks of another, in ms: p50 and p99 from its due time to its 202, and from its receipt to its end',
    row('alone', quiet, ''),
    ...attacks.map(({ name, rejected, replies, ...latencies }) => {
      const { p50, p99, written } = latencies;
      const ratios = [
        ...[times(p50, quiet.p50), times(p99, quiet.p99)],
        ...[times(written.p50, quiet.written.p50), times(written.p99, quiet.written.p99)],
      ].join(', ');
      const counts = Object.entries(replies).map(([reply, count]) => `${count} × ${reply}`);
      return row(name, latencies, `${ratios} of alone; rejected ${rejected}; the attack: ${counts.join(', ')}`);
    }),
  ].join('\n');
}
