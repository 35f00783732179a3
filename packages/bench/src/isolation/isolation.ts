import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '@orders/test-services';
import { OURS } from '../contestants.ts';
import { percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';
import { type AttackRequest, attack, attackRequest, deepItem, largestOrder, uniqueKeyItem } from './attack.ts';
import type { PoliteLoad, PoliteMessage, PoliteRun } from './polite-sender.ts';

/** The latencies of a polite account's orders during an attack of another account, in milliseconds from the time at which they were due. */
export interface Attacked {
  name: string;
  p50: number;
  p99: number;
  /** Rejected requests of the polite account. */
  rejected: number;
  /** Replies to the attack, by status. */
  replies: Record<string, number>;
}

export interface Isolation {
  /** The same without an attack. */
  quiet: { p50: number; p99: number };
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
    const quiet: number[] = [];
    const attacks: Attacked[] = [];
    for (const [index, { name, connections, restMs, requestOf }] of ATTACKS.entries()) {
      printProgress(`Alone, then beside ${name} …`);
      quiet.push(...(await beside(`quiet-${index}`, () => sleep(seconds * 1000))).orders);
      let replies: Record<string, number> = {};
      const { orders, rejected } = await beside(`attacked-${index}`, async () => {
        const signal = AbortSignal.timeout(seconds * 1000);
        const options = { connections, signal, ...(restMs !== undefined && { restMs }) };
        ({ replies } = await attack(requestOf(url, hostileKey), options));
      });
      attacks.push({
        name,
        p50: percentile(orders, 0.5),
        p99: percentile(orders, 0.99),
        rejected: Object.values(rejected).reduce((sum, count) => sum + count, 0),
        replies,
      });
    }
    return { quiet: { p50: percentile(quiet, 0.5), p99: percentile(quiet, 0.99) }, attacks };
  } finally {
    await sender.stop();
    await running.stop();
    await services.drop(databaseUrl);
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
  const row = (name: string, p50: number, p99: number, rest: string) =>
    `${name.padEnd(42)} ${p50.toFixed(1).padStart(8)} ${p99.toFixed(0).padStart(8)}  ${rest}`;
  return [
    `an order of one account, from its due time to its 202, beside attacks of another; p50 and p99 in ms`,
    row('alone', quiet.p50, quiet.p99, ''),
    ...attacks.map(({ name, p50, p99, rejected, replies }) => {
      const ratios = `p50 ${(p50 / quiet.p50).toFixed(1)} ×, p99 ${(p99 / quiet.p99).toFixed(1)} ×`;
      const counts = Object.entries(replies).map(([reply, count]) => `${count} × ${reply}`);
      return row(name, p50, p99, `${ratios} of alone; rejected ${rejected}; the attack: ${counts.join(', ')}`);
    }),
  ].join('\n');
}
