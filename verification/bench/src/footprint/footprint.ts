import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BUNDLE_DIRECTORY, bundleApps } from '@orders/bundle';
import { freePort } from '@orders/test-services/ports.ts';
import { OURS } from '../contestants.ts';
import { startDriver } from '../load/start-driver.ts';
import { type Memory, memoryOf } from '../measure/processes.ts';
import { median } from '../measure/statistics.ts';
import { renderTargets, table } from '../report/tables.ts';
import type { Services } from '../services.ts';
import { startApp } from './start-app.ts';

/** In the order in which they start. */
const APPS = ['intake', 'worker', 'notifier', 'portal'] as const;
type App = (typeof APPS)[number];
const VARIANTS = ['bundle', 'sources'] as const;
type Variant = (typeof VARIANTS)[number];

/** One process in one round. */
export interface ProcessFootprint {
  app: App;
  variant: Variant;
  readyMs: number;
  cpuSeconds: number;
  idle: Memory;
  /** `IDLE_MS` after a burst of orders. */
  afterLoad: Memory;
}

export interface Footprint {
  processes: ProcessFootprint[];
  /** In MB; null if it is unknown, and `imageNote` says why. */
  imageMB: number | null;
  imageNote?: string;
}

const ROOT = resolve(import.meta.dirname, '../../../..');
/** Each periodic task of the worker has run once by then. */
const IDLE_MS = 6000;
const BURST = { load: { kind: 'closed', connections: 16 }, seconds: 2 } as const;

const TARGETS: { what: string; app: App; metric: keyof ReturnType<typeof medians>; enough: number; goal: number }[] = [
  { what: 'intake, bundle: memory when idle, MiB', app: 'intake', metric: 'idle', enough: 130, goal: 100 },
  { what: 'worker, bundle: memory when idle, MiB', app: 'worker', metric: 'idle', enough: 110, goal: 80 },
  { what: 'portal, bundle: memory when idle, MiB', app: 'portal', metric: 'idle', enough: 140, goal: 110 },
  { what: 'intake, bundle: start to ready, s', app: 'intake', metric: 'readySeconds', enough: 0.5, goal: 0.3 },
  { what: 'worker, bundle: start to ready, s', app: 'worker', metric: 'readySeconds', enough: 0.5, goal: 0.3 },
];
const IMAGE_TARGET = { what: 'image, MB', enough: 260, goal: 200 };

/** Starts the apps in both variants, alternately, and measures their start and their memory before and after a burst of orders. */
export async function runFootprint(
  services: Services,
  { rounds, image }: { rounds: number; image?: string | undefined },
  printProgress: (text: string) => void,
): Promise<Footprint> {
  printProgress('Bundling the apps …');
  await bundleApps();
  const databaseUrl = await services.fresh('footprint');
  const { env, apiKeys } = await OURS.prepare(databaseUrl, services.redisUrl);
  const processes: ProcessFootprint[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of VARIANTS) {
      printProgress(`Round ${round}: ${variant} …`);
      const prefix = `${variant}-${round}`;
      const measured = await measureApps(variant, { env, apiKeys, prefix, directory: services.directory });
      printProgress(
        `    ${measured.map(({ app, readyMs, idle }) => `${app} ${Math.round(readyMs)} ms, ${Math.round(idle.residentMiB)} MiB`).join(' · ')}`,
      );
      processes.push(...measured);
    }
  }
  await services.drop(databaseUrl);
  return { processes, ...(await imageSize(image)) };
}

async function measureApps(
  variant: Variant,
  { env, apiKeys, prefix, directory }: { env: object; apiKeys: string[]; prefix: string; directory: string },
): Promise<ProcessFootprint[]> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started: (Awaited<ReturnType<typeof startApp>> & { app: App })[] = [];
  try {
    // One after the other, so that no start takes CPU time from another.
    for (const app of APPS) {
      const main = variant === 'bundle' ? join(BUNDLE_DIRECTORY, `${app}.js`) : join(ROOT, 'apps', app, 'src/main.ts');
      const ownPort = app === 'intake' ? port : await freePort();
      const settings = {
        ...env,
        PORT: String(ownPort),
        ADMIN_PORT: String(await freePort()),
        PORTAL_URL: `http://localhost:${ownPort}`,
        INTAKE_URL: url,
      };
      started.push({ app, ...(await startApp(main, settings, join(directory, `footprint-${app}.log`))) });
    }
    const readMemory = async () => {
      await sleep(IDLE_MS);
      return Promise.all(started.map(({ child }) => memoryOf(child.pid)));
    };
    const idle = await readMemory();
    const driver = await startDriver();
    try {
      await driver.run({ urls: [`${url}/ingest/orders`], apiKeys, prefix, ...BURST });
    } finally {
      await driver.child.stop();
    }
    const afterLoad = await readMemory();
    return started.map(({ app, readyMs, cpuSeconds }, index) => ({
      app,
      variant,
      readyMs,
      cpuSeconds,
      idle: idle[index] as Memory,
      afterLoad: afterLoad[index] as Memory,
    }));
  } finally {
    await Promise.all(started.map(({ child }) => child.stop()));
  }
}

function medians(processes: readonly ProcessFootprint[], app: App, variant: Variant) {
  const own = processes.filter((one) => one.app === app && one.variant === variant);
  const medianOf = (read: (one: ProcessFootprint) => number) => median(own.map(read));
  return {
    readySeconds: medianOf(({ readyMs }) => readyMs / 1000),
    cpuSeconds: medianOf(({ cpuSeconds }) => cpuSeconds),
    idle: medianOf(({ idle }) => idle.residentMiB),
    idlePrivate: medianOf(({ idle }) => idle.privateMiB),
    idleProportional: medianOf(({ idle }) => idle.proportionalMiB),
    afterLoad: medianOf(({ afterLoad }) => afterLoad.residentMiB),
    afterLoadPrivate: medianOf(({ afterLoad }) => afterLoad.privateMiB),
  };
}

/** Formats the results as Markdown tables of medians, and the targets. */
export function renderFootprint({ processes, imageMB, imageNote }: Footprint): string {
  const rows = APPS.flatMap((app) =>
    VARIANTS.map((variant) => {
      const { readySeconds, cpuSeconds, ...memory } = medians(processes, app, variant);
      const sizes = Object.values(memory).map((value) => value.toFixed(0));
      return [`${app}, ${variant}`, readySeconds.toFixed(2), cpuSeconds.toFixed(2), ...sizes];
    }),
  );
  const targets = TARGETS.map(({ app, metric, ...target }) => ({
    ...target,
    value: medians(processes, app, 'bundle')[metric],
  }));
  const imageTargets = imageMB === null ? [] : [{ ...IMAGE_TARGET, value: imageMB }];
  const head = ['', 'ready, s', 'CPU, s', 'idle, MiB', 'private', 'proportional', 'after load, MiB', 'private'];
  return [table(head, rows), renderTargets([...targets, ...imageTargets]), ...(imageNote ? [imageNote] : [])].join(
    '\n\n',
  );
}

/** Reads the size of an image from Docker. */
async function imageSize(image: string | undefined): Promise<{ imageMB: number | null; imageNote?: string }> {
  if (image === undefined) return { imageMB: null, imageNote: 'The image was not measured: name it with --image.' };
  try {
    const { stdout } = await promisify(execFile)('docker', ['image', 'inspect', '--format', '{{.Size}}', image]);
    return { imageMB: Number(stdout) / 1e6 };
  } catch {
    return {
      imageMB: null,
      imageNote: `The image was not measured: Docker does not answer, or has no image ${image}.`,
    };
  }
}
