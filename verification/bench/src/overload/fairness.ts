import pg from 'pg';
import { OURS } from '../contestants.ts';
import type { LoadResult } from '../load/run-load.ts';
import { startDriver } from '../load/start-driver.ts';
import { readStoredOrders } from '../measure/postgres.ts';
import { percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';

/** The effect of one account's flood on another account. Latencies in milliseconds from the 202 to the commit. */
export interface Fairness {
  quietPerSecond: number;
  floodPerSecond: number;
  /** The p99 of the quiet account alone. */
  aloneP99: number;
  /** The same during the flood. */
  besideP99: number;
  besideP50: number;
  /** The p99 of the flooding account, whose orders queue up. */
  floodP99: number;
  /** Rejected orders of the quiet account. */
  refused: number;
}

const QUIET_PER_SECOND = 40;
const FLOOD_FACTOR = 50;
/** The extra time of each order of the flooding account in Postgres, so that the flood exceeds the workers' capacity. */
const SLOW_SECONDS = 0.003;

/** Measures a steady account, alone and then during a flood of fifty times as many orders, more than the workers can write. */
export async function runFairness(
  services: Services,
  { seconds }: { seconds: number },
  printProgress: (text: string) => void,
): Promise<Fairness> {
  const databaseUrl = await services.fresh('fairness');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const [quiet, flood] = [0, 1].map((index) => senderOf(running, index)) as [Sender, Sender];

  try {
    await client.query(`
      create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${SLOW_SECONDS}); return new; end $$;
      create trigger be_slow before insert on orders for each row when (new.account_id = ${flood.accountId}) execute function be_slow()`);
    printProgress('Warming up …');
    await offer(quiet, QUIET_PER_SECOND, 3, 'warm');
    printProgress(`One account alone, ${QUIET_PER_SECOND} orders/s …`);
    const alone = await offer(quiet, QUIET_PER_SECOND, seconds, 'alone');
    printProgress(`Beside another that sends ${FLOOD_FACTOR} times as much …`);
    const [beside, flooding] = await Promise.all([
      offer(quiet, QUIET_PER_SECOND, seconds, 'beside'),
      offer(flood, QUIET_PER_SECOND * FLOOD_FACTOR, seconds, 'flood'),
    ]);
    const [aloneTimes, besideTimes, floodTimes] = [
      await writtenAfter(client, quiet, alone, 'alone'),
      await writtenAfter(client, quiet, beside, 'beside'),
      await writtenAfter(client, flood, flooding, 'flood'),
    ];
    return {
      quietPerSecond: QUIET_PER_SECOND,
      floodPerSecond: QUIET_PER_SECOND * FLOOD_FACTOR,
      aloneP99: percentile(aloneTimes, 0.99),
      besideP99: percentile(besideTimes, 0.99),
      besideP50: percentile(besideTimes, 0.5),
      floodP99: percentile(floodTimes, 0.99),
      refused: besideTimes.filter(Number.isNaN).length,
    };
  } finally {
    await running.stop();
    await client.end();
    await services.drop(databaseUrl);
  }
}

interface Sender {
  url: string;
  apiKeys: string[];
  accountId: number;
}

function senderOf({ url, apiKeys, accountIds }: Running, index: number): Sender {
  return { url, apiKeys: [apiKeys[index] as string], accountId: accountIds[index] as number };
}

async function offer(
  { url, apiKeys }: Sender,
  perSecond: number,
  seconds: number,
  prefix: string,
): Promise<LoadResult> {
  const driver = await startDriver();
  try {
    return await driver.run({ urls: [url], apiKeys, load: { kind: 'open', perSecond }, seconds, prefix });
  } finally {
    await driver.child.stop();
  }
}

/** The time from the 202 to the commit of each order. A pending order counts with its time so far. */
async function writtenAfter(
  client: pg.Client,
  { accountId }: Sender,
  load: LoadResult,
  prefix: string,
): Promise<Float64Array> {
  const now = Date.now();
  const { writtenAt } = await readStoredOrders(client, { accountIds: [accountId], prefix }, load.acceptedAt.length);
  return writtenAt.map((at, number) => (Number.isNaN(at) ? now : at) - (load.acceptedAt[number] as number));
}

/** Formats the results, one per line. */
export function renderFairness(fairness: Fairness): string {
  const { aloneP99, besideP99 } = fairness;
  const bound = Math.max(5 * aloneP99, 500);
  return [
    `one account sends ${fairness.quietPerSecond} orders/s, another ${fairness.floodPerSecond}, more than the worker can write`,
    `accepted to written, p99 of the first: ${aloneP99.toFixed(0)} ms alone, ${besideP99.toFixed(0)} ms beside the flood (enough ${bound.toFixed(0)} ms)`,
    `its p50 beside the flood: ${fairness.besideP50.toFixed(0)} ms; of its orders not accepted: ${fairness.refused}`,
    `p99 of the flooding account's own orders: ${fairness.floodP99.toFixed(0)} ms`,
  ].join('\n');
}
