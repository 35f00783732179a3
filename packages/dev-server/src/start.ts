import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isServedClientPacked, packServedClient } from '@orders/bundle/pack-client.ts';
import { withDatabase } from '@orders/database/connect.ts';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { LOOPBACK_HOSTS } from '@orders/runtime/config/environment.ts';
import { parseSecretsKey } from '@orders/runtime/config/settings.ts';
import { mainOf, startProgram, untilReady } from '@orders/test-services/apps.ts';
import { processArguments } from '@orders/test-services/child.ts';
import { buildPage, isPageBuilt } from './build-page.ts';
import { ensureDemoAccounts, ensureDemoSignIns, makeDemoCancellations, sendSampleOrders } from './demo-data.ts';
import { type DevFile, LOCAL_DIRECTORY, loadSecrets, readJson, writePrivately } from './local-state.ts';
import { createSteps, holdOutput, welcome } from './output.ts';
import { choosePorts } from './ports.ts';
import { type Supervised, startServices, supervise } from './start-services.ts';

const DEV_FILE = join(LOCAL_DIRECTORY, 'dev.json');
const LOCK_FILE = join(LOCAL_DIRECTORY, 'start.pid');

const HELP = `npm start [-- --verbose]

Installs what running needs, starts Postgres, a queue, intake, a worker, the notifier and the portal with demo data, and
prints how to use them. Ctrl-C stops everything; the data stays in .local/.

  --verbose  print how long each step of the start took
  --help     print this text

Variables: PORT, PORTAL_PORT, DATABASE_URL, QUEUE_URL and others, see CONTRIBUTING.md.`;

const { verbose, help } = readArguments();
if (help) {
  print(HELP);
  process.exit(0);
}
const step = createSteps(print, verbose);
const output = holdOutput((text) => void process.stdout.write(text));

// Where it is a pipe whose reader has ended, the apps still have to be stopped in order.
process.stdout.on('error', () => {});

const shutdown = Promise.withResolvers<string>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => shutdown.resolve(signal));
exitWithParent();

const stops: (() => Promise<void>)[] = [];
let exitCode = 0;
try {
  await lock();
  const { failed } = await start();
  const reason = await Promise.race([shutdown.promise, failed.finally(() => (exitCode = 1))]);
  print(`\n${reason}: stopping everything.`);
} catch (error) {
  output.release('all');
  print(`npm start: ${firstLineOf(error)}`);
  exitCode = 1;
}
for (const stop of stops.reverse()) await stop();
process.exit(exitCode);

/** @returns `failed` settles with a message when a service or app does not keep running. */
async function start(): Promise<{ failed: Promise<string> }> {
  const secrets = await loadSecrets();
  const secretsKey = process.env.SECRETS_KEY || secrets.secretsKey;
  const ports = await choosePorts({ directory: LOCAL_DIRECTORY, environment: process.env, print });
  const page = (await isPageBuilt()) ? null : step("Building the portal's page", buildPage);
  // Awaited below; until then a failure is not unhandled.
  page?.catch(() => {});
  const client = isServedClientPacked() ? null : step('Packing the client for senders', packServedClient);
  client?.catch(() => {});
  const services = await step('Starting Postgres and the queue', () =>
    startServices({
      directory: LOCAL_DIRECTORY,
      postgresPassword: secrets.postgresPassword,
      databaseUrl: process.env.DATABASE_URL,
      queueUrl: process.env.QUEUE_URL,
      ports,
      print,
    }),
  );
  stops.push(services.stop);
  const { databaseUrl, queueUrl } = services;
  await step('Bringing the schema up to date', async () => {
    await withDatabase({ url: databaseUrl }, migrate);
    await migrateQueue(queueUrl);
  });

  const known = await readJson<Partial<DevFile>>(DEV_FILE);
  const { accounts, signIns } = await step('Preparing two demo accounts and their users', async () => {
    const accounts = await ensureDemoAccounts(databaseUrl, parseSecretsKey(secretsKey), known?.accounts ?? []);
    return {
      accounts,
      signIns: await ensureDemoSignIns(databaseUrl, accounts[0]?.id as number, known?.signIns ?? []),
    };
  });
  await page;
  await client;
  const base = `http://127.0.0.1:${ports.intake}${process.env.BASE_PATH ?? ''}`;
  // Not 127.0.0.1, as browsers make passkeys for names only.
  const portalUrl = `http://localhost:${ports.portal}`;
  const common = {
    DATABASE_URL: databaseUrl,
    QUEUE_URL: queueUrl,
    SECRETS_KEY: secretsKey,
    LOG_FORMAT: 'text',
    CALLBACK_ALLOW: process.env.CALLBACK_ALLOW || LOOPBACK_HOSTS.join(','),
  };
  const listeningOn = (port: number, adminPort: number) => ({ PORT: String(port), ADMIN_PORT: String(adminPort) });
  const intake = await startApp('intake', { ...common, ...listeningOn(ports.intake, ports.intakeAdmin) });
  const worker = await startApp('worker', { ...common, ADMIN_PORT: String(ports.workerAdmin) });
  const notifier = await startApp('notifier', { ...common, ADMIN_PORT: String(ports.notifierAdmin) });
  const portal = await startApp('portal', {
    ...common,
    ...listeningOn(ports.portal, ports.portalAdmin),
    PORTAL_URL: portalUrl,
    OPERATOR_SECOND_FACTOR: process.env.OPERATOR_SECOND_FACTOR || 'optional',
    INTAKE_URL: base,
  });
  const failed = Promise.race([services.failed, ...[intake, worker, notifier, portal].map((app) => app.failed)]);
  const adminPorts = [ports.intakeAdmin, ports.workerAdmin, ports.notifierAdmin, ports.portalAdmin];
  await step('Starting intake, a worker, the notifier and the portal', () =>
    Promise.race([
      Promise.all(adminPorts.map((port) => untilReady(port))),
      failed.then((reason) => Promise.reject(new Error(reason))),
      shutdown.promise.then((signal) => Promise.reject(new Error(`${signal} while starting`))),
    ]),
  );

  const adminUrl = `http://127.0.0.1:${ports.intakeAdmin}`;
  const dev: DevFile = {
    intakeUrl: base,
    adminUrl,
    databaseUrl,
    queueUrl,
    portalUrl,
    accounts,
    signIns,
    sampled: true,
  };
  // Only on the first start; later starts do not change the list.
  if (!known?.sampled) {
    await step('Sending sample orders', async () => {
      await sendSampleOrders(base, accounts[0]?.apiKey as string);
      await makeDemoCancellations(dev);
    });
  }
  await writePrivately(DEV_FILE, dev);
  print(welcome(dev, services));
  output.release('warnings');
  return { failed };
}

async function startApp(name: string, settings: Record<string, string>): Promise<Supervised> {
  const start = async () => {
    const child = await startProgram(mainOf(name), { ...process.env, ...settings }, { output: 'pipe' });
    output.add(child.process.stdout);
    output.add(child.process.stderr);
    return child;
  };
  const app = await supervise(`The ${name} app`, start, print);
  stops.push(app.stop);
  return app;
}

/** Ends with a line if an argument is not known. */
function readArguments(): { verbose: boolean; help: boolean } {
  const options = { verbose: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    print(`npm start: ${firstLineOf(error)}`);
    process.exit(2);
  }
}

/** Two starts in one clone would share their data directories. */
async function lock(): Promise<void> {
  const other = Number(await readFile(LOCK_FILE, 'utf8').catch(() => ''));
  if (other && isStart(other)) throw new Error(`already running here as process ${other}; stop it with: kill ${other}`);
  await mkdir(LOCAL_DIRECTORY, { recursive: true });
  await writeFile(LOCK_FILE, String(process.pid));
  stops.push(() => rm(LOCK_FILE, { force: true }));
}

/** Whether a process is an `npm start`; the id may have been reused by another process. */
function isStart(pid: number): boolean {
  return pid !== process.pid && processArguments(pid).includes('dev-server/src/start.ts');
}

/** An error in one line. A connection refused on every address has only a code. */
function firstLineOf(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const [line] = error.message.split('\n');
  return line || `cannot connect (${(error as NodeJS.ErrnoException).code ?? error.name})`;
}

/** npm can be killed without forwarding the signal; this process would then run forever. */
function exitWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) shutdown.resolve('The parent process has exited');
  }, 500).unref();
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
