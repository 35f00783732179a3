import { setTimeout as sleep } from 'node:timers/promises';
import { OURS } from '../contestants.ts';
import { openConnection } from '../load/connection.ts';
import { startDriver } from '../load/start-driver.ts';
import { usageOf } from '../measure/processes.ts';
import { percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';

/** The results of one account. Latencies in milliseconds; those of the quiet account from the due time of a request. */
interface AccountResult {
  /** Successful requests per second. */
  perSecond: number;
  refused: number;
  p50: number;
  p99: number;
}

/** The results for one kind of large bodies from one account, while a quiet account sends small orders. */
export interface LargeBodies {
  kind: string;
  connections: number;
  quiet: AccountResult;
  /** Null if the quiet account is alone. */
  flooder: AccountResult | null;
  /** The peak memory of intake in MiB. */
  intakeMiB: number;
}

const QUIET_PER_SECOND = 40;
/** The pause of a sender after a rejection. */
const RETRY_MS = 100;
const MAX_BODY_BYTES = 262_144;
/** With separators below the 8 MiB of a batch. */
const ORDERS_PER_BATCH = 31;
/** The heap limit in a pod of 1 GiB. */
const NODE_OPTIONS = '--max-old-space-size=512';

/** The maximum number of empty items: cheap to send and expensive in memory. */
function largestOrder(id: string): string {
  const start = `{"source_order_id":"${id}","items":[`;
  const count = Math.floor((MAX_BODY_BYTES - start.length - 2) / 3);
  return `${start}${Array(count).fill('{}').join()}]}`;
}

interface Kind {
  name: string;
  /** Replaces `orders` in the route. */
  route: string;
  connections: number;
  /** @param number the number of the request. */
  bodyOf: (number: number) => string;
  headers: Record<string, string>;
}

const JSON_BODY = { 'content-type': 'application/json' };

function kinds(): Kind[] {
  const order = largestOrder('large');
  const [start = '', end = ''] = [order.slice(0, -1), '}'];
  const batch = `[${Array.from({ length: ORDERS_PER_BATCH }, (_, index) => largestOrder(`batch-${index}`)).join()}]`;
  return [
    { name: 'orders of 256 KB', route: 'orders', connections: 120, bodyOf: () => order, headers: JSON_BODY },
    { name: 'previews of 256 KB', route: 'preview', connections: 120, bodyOf: () => order, headers: JSON_BODY },
    {
      name: 'replays of 256 KB that differ by a space',
      route: 'orders',
      connections: 40,
      bodyOf: (number) => `${start}${number % 2 ? ' ' : ''}${end}`,
      headers: { ...JSON_BODY, 'idempotency-key': 'large' },
    },
    { name: 'batches of 8 MB', route: 'orders/batch', connections: 16, bodyOf: () => batch, headers: JSON_BODY },
  ];
}

/** Measures a quiet account with small orders, alone and then beside one that sends large bodies in a closed loop. */
export async function runLargeBodies(
  services: Services,
  { seconds }: { seconds: number },
  printProgress: (text: string) => void,
): Promise<LargeBodies[]> {
  const databaseUrl = await services.fresh('large_bodies');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1, env: { NODE_OPTIONS } });
  const [quietKey, floodKey] = running.apiKeys as [string, string];

  async function measure(kind: Kind | null, prefix: string): Promise<LargeBodies> {
    const driver = await startDriver();
    try {
      const load = { kind: 'open', perSecond: QUIET_PER_SECOND } as const;
      const quiet = driver.run({ urls: [running.url], apiKeys: [quietKey], load, seconds, prefix });
      const [run, flooder] = await Promise.race([
        Promise.all([quiet, kind && flood(running, floodKey, kind, seconds)]),
        running.died.then((what) => Promise.reject(new Error(what))),
      ]);
      const accepted = run.acceptedAt.filter((at) => !Number.isNaN(at)).length;
      return {
        kind: kind?.name ?? 'alone',
        connections: kind?.connections ?? 0,
        quiet: {
          perSecond: (accepted * 1000) / (run.endedAt - run.startedAt),
          refused: run.acceptedAt.length - accepted,
          p50: percentile(run.latencies, 0.5),
          p99: percentile(run.latencies, 0.99),
        },
        flooder,
        intakeMiB: (await usageOf(running.intake.pid))?.memoryMiB ?? Number.NaN,
      };
    } finally {
      await driver.child.stop();
    }
  }

  try {
    printProgress('Warming up …');
    await measure(null, 'warm');
    const results: LargeBodies[] = [];
    for (const [index, kind] of [null, ...kinds()].entries()) {
      printProgress(kind ? `Beside ${kind.connections} connections with ${kind.name} …` : 'One account alone …');
      results.push(await measure(kind, `large${index}`));
    }
    return results;
  } finally {
    await running.stop();
    await services.drop(databaseUrl);
  }
}

/** A closed loop of one account that pauses only after a rejection. */
async function flood({ url }: Running, key: string, kind: Kind, seconds: number): Promise<AccountResult> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const latencies: number[] = [];
  let [succeeded, refused, sent] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: kind.connections }, async () => {
      const open = () => openConnection(url.replace(/orders$/, kind.route), key);
      let connection = open();
      while (performance.now() < endsAt) {
        const from = performance.now();
        const { promise, resolve } = Promise.withResolvers<{ status: number; at: number }>();
        connection.send(kind.bodyOf(sent++), resolve, kind.headers);
        const { status, at } = await promise;
        latencies.push(at - from);
        if (status === 200 || status === 202) succeeded += 1;
        else {
          refused += 1;
          await sleep(RETRY_MS);
          if (status === 0) connection = open();
        }
      }
      connection.close();
    }),
  );
  return {
    perSecond: (succeeded * 1000) / (performance.now() - startedAt),
    refused,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

/** Formats the results, one per line. */
export function renderLargeBodies(results: readonly LargeBodies[]): string {
  const describe = ({ perSecond, refused, p50, p99 }: AccountResult) =>
    `${perSecond.toFixed(0)}/s, ${refused} refused, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  return results
    .map(({ kind, connections, quiet, flooder, intakeMiB }) =>
      flooder
        ? `beside ${connections} connections with ${kind}: ${describe(quiet)} (enough: none refused, p99 500 ms); the flooder: ${describe(flooder)}; intake at most ${intakeMiB.toFixed(0)} MiB`
        : `one account alone, ${QUIET_PER_SECOND} small orders/s: ${describe(quiet)}`,
    )
    .join('\n');
}
