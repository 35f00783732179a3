import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUNDLE_DIRECTORY, bundleApps } from '@orders/bundle/bundle-apps.ts';
import { startProgram, untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import type { Bench } from './bench.ts';
import { printProgress } from './command-line.ts';
import { OURS } from './contestants.ts';
import { residentMiB, usageOf } from './processes.ts';
import { withDriver } from './start-driver.ts';
import { medians } from './statistics.ts';
import { digits, table } from './tables.ts';

/** In the order in which they start. */
const APPS = ['intake', 'worker', 'notifier', 'portal'] as const;

/** One process of the bundle in one round. */
interface Footprint {
  app: (typeof APPS)[number];
  /** From the start of the process. */
  readySeconds: number;
  /** Until then. */
  cpuSeconds: number;
  idleMiB: number;
  /** `IDLE_MS` after a burst of orders. */
  afterLoadMiB: number;
}

/** Each periodic task of the worker has run once by then. */
const IDLE_MS = 6000;
const BURST = { load: { kind: 'closed', connections: 16 }, seconds: 2 } as const;
const POLL_INTERVAL_MS = 3;

/** Starts the bundled apps, and measures their start and their memory before and after a burst of orders. */
export const footprint: Bench = {
  name: 'footprint',
  description: 'Measures start-up time and idle memory of the bundled apps.',
  help: 'It builds the bundle as the Dockerfile does, and needs the portal’s page (npm run build).\nReady is when the admin port answers 200 on /health/ready.',
  async run(services, { rounds }) {
    printProgress('Bundling the apps …');
    await bundleApps();
    const databaseUrl = await services.fresh('footprint');
    const { env, apiKeys } = await OURS.prepare(databaseUrl, services.redisUrl);
    const processes: Footprint[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      printProgress(`Round ${round} …`);
      const { directory } = services;
      processes.push(...(await measureApps({ env, apiKeys, prefix: `round${round}`, directory })));
    }
    await services.drop(databaseUrl);
    const rows = APPS.map((app) => {
      const { app: _, ...figures } = medians(processes.filter((one) => one.app === app));
      return [app, ...Object.values(figures).map((figure) => digits(figure))];
    });
    const text = table(['', 'ready, s', 'CPU, s', 'idle, MiB (resident)', 'after load, MiB'], rows);
    return { text, results: { processes } };
  },
};

async function measureApps(options: {
  env: object;
  apiKeys: string[];
  prefix: string;
  directory: string;
}): Promise<Footprint[]> {
  const { env, apiKeys, prefix, directory } = options;
  const intakePort = await freePort();
  const url = `http://127.0.0.1:${intakePort}`;
  const children: Child[] = [];
  const starts: Pick<Footprint, 'app' | 'readySeconds' | 'cpuSeconds'>[] = [];
  try {
    // One after the other, so that no start takes CPU time from another.
    for (const app of APPS) {
      const main = join(BUNDLE_DIRECTORY, `${app}.js`);
      const port = app === 'intake' ? intakePort : await freePort();
      const adminPort = await freePort();
      const settings = {
        ...env,
        NODE_ENV: 'production',
        // The image has no compile cache.
        NODE_COMPILE_CACHE: undefined,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        PORTAL_URL: `http://localhost:${port}`,
        INTAKE_URL: url,
      };
      const file = join(directory, `footprint-${app}.log`);
      const startedAt = performance.now();
      const child = await startProgram(main, settings, { output: { file } });
      children.push(child);
      await untilReady(adminPort, { child, everyMs: POLL_INTERVAL_MS }).catch(async () => {
        const lastLine = (await readFile(file, 'utf8')).trimEnd().split('\n').at(-1);
        throw new Error(`${main} is not ready: ${lastLine || 'it printed nothing'}`);
      });
      const readySeconds = (performance.now() - startedAt) / 1000;
      starts.push({ app, readySeconds, cpuSeconds: (await usageOf(child.pid)).cpuSeconds });
    }
    const readMemory = async () => {
      await sleep(IDLE_MS);
      return Promise.all(children.map(({ pid }) => residentMiB(pid)));
    };
    const idle = await readMemory();
    await withDriver((driver) => driver.send({ urls: [`${url}/ingest/orders`], apiKeys, prefix, ...BURST }));
    const afterLoad = await readMemory();
    return starts.map((start, index) => ({
      ...start,
      idleMiB: idle[index] as number,
      afterLoadMiB: afterLoad[index] as number,
    }));
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}
