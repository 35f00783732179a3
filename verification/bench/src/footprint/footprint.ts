import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BUNDLE_DIRECTORY, bundleApps } from '@orders/bundle/bundle-apps.ts';
import { mainOf, startProgram, untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { type Bench, ROUNDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { OURS } from '../contestants.ts';
import { withDriver } from '../load/start-driver.ts';
import { type Memory, memoryOf, usageOf } from '../measure/processes.ts';
import { medians } from '../measure/statistics.ts';
import { renderFigures, table } from '../report/tables.ts';

/** In the order in which they start. */
const APPS = ['intake', 'worker', 'notifier', 'portal'] as const;
type App = (typeof APPS)[number];
const VARIANTS = ['bundle', 'sources'] as const;
type Variant = (typeof VARIANTS)[number];

/** One process in one round. */
interface ProcessFootprint {
  app: App;
  variant: Variant;
  /** From the start of the process. */
  readyMs: number;
  cpuSeconds: number;
  idle: Memory;
  /** `IDLE_MS` after a burst of orders. */
  afterLoad: Memory;
}

/** Each periodic task of the worker has run once by then. */
const IDLE_MS = 6000;
const BURST = { load: { kind: 'closed', connections: 16 }, seconds: 2 } as const;
const POLL_INTERVAL_MS = 3;

const TARGETS: { what: string; app: App; metric: keyof ReturnType<typeof figuresOf>; enough: number; goal: number }[] =
  [
    { what: 'intake, bundle: memory when idle, MiB', app: 'intake', metric: 'idle', enough: 130, goal: 100 },
    { what: 'worker, bundle: memory when idle, MiB', app: 'worker', metric: 'idle', enough: 110, goal: 80 },
    { what: 'portal, bundle: memory when idle, MiB', app: 'portal', metric: 'idle', enough: 140, goal: 110 },
    { what: 'intake, bundle: start to ready, s', app: 'intake', metric: 'readySeconds', enough: 0.5, goal: 0.3 },
    { what: 'worker, bundle: start to ready, s', app: 'worker', metric: 'readySeconds', enough: 0.5, goal: 0.3 },
  ];
const IMAGE_TARGET = { what: 'image, MB', enough: 260, goal: 200 };

/** Starts the apps in both variants, alternately, and measures their start and their memory before and after a burst of orders. */
export const footprint: Bench = {
  name: 'footprint',
  description: 'Measures start-up time, idle memory and image size, of the bundle and of the sources.',
  options: [ROUNDS],
  textOption: ['--image <name>', 'the image to measure, as built by docker build'],
  help: 'It builds the bundle as the Dockerfile does, and needs the portal’s page (npm run build).\nReady is when the admin port answers 200 on /health/ready. Each round starts both variants.',
  async run(services, { rounds, image }) {
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
        const lines = measured.map(
          ({ app, readyMs, idle }) => `${app} ${Math.round(readyMs)} ms, ${Math.round(idle.residentMiB)} MiB`,
        );
        printProgress(`    ${lines.join(' · ')}`);
        processes.push(...measured);
      }
    }
    await services.drop(databaseUrl);
    const size = await imageSize(image);
    return { text: render(processes, size), results: { processes, ...size } };
  },
};

async function measureApps(
  variant: Variant,
  { env, apiKeys, prefix, directory }: { env: object; apiKeys: string[]; prefix: string; directory: string },
): Promise<ProcessFootprint[]> {
  const intakePort = await freePort();
  const url = `http://127.0.0.1:${intakePort}`;
  const children: Child[] = [];
  const starts: Pick<ProcessFootprint, 'app' | 'readyMs' | 'cpuSeconds'>[] = [];
  try {
    // One after the other, so that no start takes CPU time from another.
    for (const app of APPS) {
      const main = variant === 'bundle' ? join(BUNDLE_DIRECTORY, `${app}.js`) : mainOf(app);
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
      const readyMs = performance.now() - startedAt;
      starts.push({ app, readyMs, cpuSeconds: (await usageOf(child.pid)).cpuSeconds });
    }
    const readMemory = async () => {
      await sleep(IDLE_MS);
      return Promise.all(children.map(({ pid }) => memoryOf(pid)));
    };
    const idle = await readMemory();
    await withDriver((driver) => driver.send({ urls: [`${url}/ingest/orders`], apiKeys, prefix, ...BURST }));
    const afterLoad = await readMemory();
    return starts.map((start, index) => ({
      ...start,
      variant,
      idle: idle[index] as Memory,
      afterLoad: afterLoad[index] as Memory,
    }));
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

function figuresOf(processes: readonly ProcessFootprint[], app: App, variant: Variant) {
  const own = medians(processes.filter((one) => one.app === app && one.variant === variant));
  return {
    readySeconds: own.readyMs / 1000,
    cpuSeconds: own.cpuSeconds,
    idle: own.idle.residentMiB,
    idlePrivate: own.idle.privateMiB,
    idleProportional: own.idle.proportionalMiB,
    afterLoad: own.afterLoad.residentMiB,
    afterLoadPrivate: own.afterLoad.privateMiB,
  };
}

/** Formats the results as Markdown tables of medians, and the targets. */
function render(processes: readonly ProcessFootprint[], { imageMB, imageNote }: ImageSize): string {
  const rows = APPS.flatMap((app) =>
    VARIANTS.map((variant) => {
      const { readySeconds, cpuSeconds, ...memory } = figuresOf(processes, app, variant);
      const sizes = Object.values(memory).map((value) => value.toFixed(0));
      return [`${app}, ${variant}`, readySeconds.toFixed(2), cpuSeconds.toFixed(2), ...sizes];
    }),
  );
  const targets = TARGETS.map(({ app, metric, ...target }) => ({
    ...target,
    value: figuresOf(processes, app, 'bundle')[metric],
  }));
  const imageTargets = imageMB === null ? [] : [{ ...IMAGE_TARGET, value: imageMB }];
  const head = ['', 'ready, s', 'CPU, s', 'idle, MiB', 'private', 'proportional', 'after load, MiB', 'private'];
  return [table(head, rows), renderFigures([...targets, ...imageTargets]), ...(imageNote ? [imageNote] : [])].join(
    '\n\n',
  );
}

/** In MB; null if it is unknown, and `imageNote` says why. */
interface ImageSize {
  imageMB: number | null;
  imageNote?: string;
}

/** Reads the size of an image from Docker. */
async function imageSize(image: string | undefined): Promise<ImageSize> {
  if (image === undefined) return { imageMB: null, imageNote: 'The image was not measured: name it with --image.' };
  try {
    const { stdout } = await promisify(execFile)('docker', ['image', 'inspect', '--format', '{{.Size}}', image]);
    return { imageMB: Number(stdout) / 1e6 };
  } catch {
    const imageNote = `The image was not measured: Docker does not answer, or has no image ${image}.`;
    return { imageMB: null, imageNote };
  }
}
