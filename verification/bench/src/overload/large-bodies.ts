import { openConnection } from '@orders/test-services/load/connection.ts';
import { countAccepted, type LoadResult, runLoad } from '@orders/test-services/load/run-load.ts';
import { type Bench, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { largestOrder } from '../isolation/attack.ts';
import { usageOfAll } from '../measure/processes.ts';
import { quantiles } from '../measure/statistics.ts';
import { digits, renderFigures, table } from '../report/tables.ts';
import type { Services } from '../services.ts';
import { type Running, withOurs } from '../start-contestant.ts';
import { measureFairness } from './fairness.ts';

/** The results of one account. Latencies in milliseconds; those of the quiet account from the due time of a request. */
interface AccountResult {
  /** Successful requests per second. */
  perSecond: number;
  refused: number;
  p50: number;
  p99: number;
}

/** The results for one kind of large bodies from one account, while a quiet account sends small orders. */
interface LargeBodies {
  beside: string;
  quiet: AccountResult;
  /** Null if the quiet account is alone. */
  flooder: AccountResult | null;
  /** The peak memory of intake in MiB. */
  intakeMiB: number;
}

const QUIET_PER_SECOND = 40;
/** The pause of a sender after a rejection. */
const RETRY_MS = 100;
/** With separators below the 8 MiB of a batch. */
const ORDERS_PER_BATCH = 31;
/** The heap limit in a pod of 1 GiB. */
const NODE_OPTIONS = '--max-old-space-size=512';

interface Kind {
  name: string;
  /** Replaces `orders` in the route. */
  route: string;
  connections: number;
  /** @param number the number of the request. */
  bodyOf: (number: number) => string;
  headers?: Record<string, string>;
}

/** Bodies with the maximum number of empty items: cheap to send and expensive in memory. */
function kinds(): Kind[] {
  const order = largestOrder('large').toString().trimEnd();
  const spaced = `${order.slice(0, -1)} }`;
  const orders = Array.from({ length: ORDERS_PER_BATCH }, (_, index) => largestOrder(`batch-${index}`).toString());
  const batch = `[${orders.join()}]`;
  return [
    { name: 'orders of 256 KB', route: 'orders', connections: 120, bodyOf: () => order },
    { name: 'previews of 256 KB', route: 'preview', connections: 120, bodyOf: () => order },
    {
      name: 'replays of 256 KB that differ by a space',
      route: 'orders',
      connections: 40,
      bodyOf: (number) => (number % 2 ? spaced : order),
      headers: { 'idempotency-key': 'large' },
    },
    { name: 'batches of 8 MB', route: 'orders/batch', connections: 16, bodyOf: () => batch },
  ];
}

export const fairness: Bench = {
  name: 'fairness',
  description: 'Measures how a flood of one account (small orders, large bodies) affects another account.',
  options: [SECONDS],
  help: 'Exit code 0: none of the first account was refused. 1: some were, or it could not run. 2: wrong usage.',
  async run(services, { seconds }) {
    const { figures, refused } = await measureFairness(services, seconds);
    const largeBodies = await measureLargeBodies(services, seconds);
    return {
      text: `${renderFigures(figures)}\n\n${renderLargeBodies(largeBodies)}`,
      results: { figures, largeBodies },
      hasFailed: refused > 0 || largeBodies.some(({ quiet }) => quiet.refused > 0),
    };
  },
};

/** Measures a quiet account with small orders, alone and then beside one that sends large bodies in a closed loop. */
function measureLargeBodies(services: Services, seconds: number): Promise<LargeBodies[]> {
  const measureBeside = async (running: Running, kind: Kind | null, prefix: string): Promise<LargeBodies> => {
    const { apiKeys, offer, whileAlive } = running;
    const [quietKey, floodKey] = apiKeys as [string, string];
    const load = { kind: 'open', perSecond: QUIET_PER_SECOND } as const;
    const [quiet, flooder] = await Promise.all([
      offer(load, seconds, prefix, { apiKeys: [quietKey] }),
      kind && whileAlive(flood(running, floodKey, kind, seconds)),
    ]);
    return {
      beside: kind ? `${kind.name}, ${kind.connections} connections` : 'nothing',
      quiet: summarize(quiet),
      flooder: flooder && summarize(flooder),
      intakeMiB: (await usageOfAll(running.intakes)).memoryMiB,
    };
  };
  return withOurs(
    services,
    async (running) => {
      printProgress('Warming up …');
      await measureBeside(running, null, 'warm');
      const results: LargeBodies[] = [];
      for (const [index, kind] of [null, ...kinds()].entries()) {
        printProgress(kind ? `Beside ${kind.connections} connections with ${kind.name} …` : 'One account alone …');
        results.push(await measureBeside(running, kind, `large${index}`));
      }
      return results;
    },
    { env: { NODE_OPTIONS } },
  );
}

/** A closed loop of one account that pauses only after a rejection. */
async function flood({ urls: [url = ''] }: Running, key: string, kind: Kind, seconds: number): Promise<LoadResult> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...kind.headers };
  const connections = Array.from({ length: kind.connections }, () =>
    openConnection(url.replace(/orders$/, kind.route), headers),
  );
  const load = { kind: 'closed', connections: kind.connections, restAfterFailureMs: RETRY_MS } as const;
  const result = await runLoad(connections, load, seconds, (number) => ({ body: kind.bodyOf(number) }));
  for (const connection of connections) connection.close();
  return result;
}

function summarize(load: LoadResult): AccountResult {
  const accepted = countAccepted(load);
  return {
    perSecond: (accepted * 1000) / (load.endedAt - load.startedAt),
    refused: load.acceptedAt.length - accepted,
    ...quantiles(load.latencies),
  };
}

function renderLargeBodies(results: readonly LargeBodies[]): string {
  const cells = (account: AccountResult | null) =>
    account ? [account.perSecond, account.refused, account.p50, account.p99].map(digits) : ['', '', '', ''];
  const head = [
    'beside',
    'small orders/s',
    'refused',
    'p50, ms',
    'p99 (enough 500)',
    'flood/s',
    'refused',
    'p50, ms',
    'p99, ms',
    'intake, MiB',
  ];
  return table(
    head,
    results.map(({ beside, quiet, flooder, intakeMiB }) => [
      beside,
      ...cells(quiet),
      ...cells(flooder),
      digits(intakeMiB),
    ]),
  );
}
