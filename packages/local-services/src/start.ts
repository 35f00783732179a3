import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, openKnex } from '@orders/database';
import { migrateQueue } from '@orders/queue';
import { parseSecretsKey } from '@orders/runtime';
import { processArguments, startChild } from './child.ts';
import { type DemoAccount, ensureDemoAccounts } from './demo-accounts.ts';
import { type DemoSignIn, ensureDemoSignIns } from './demo-sign-ins.ts';
import { LOCAL_DIRECTORY, loadSecrets, readJson, writePrivately } from './local-state.ts';
import { freePort } from './ports.ts';
import { sendSampleOrders } from './sample-orders.ts';
import { startServices } from './start-services.ts';
import { type Supervised, supervise } from './supervise.ts';
import { welcome } from './welcome.ts';

/** What tools and tests read to find a running `npm start`. */
export interface DevFile {
  intakeUrl: string;
  adminUrl: string;
  databaseUrl: string;
  queueUrl: string;
  portalUrl: string;
  accounts: DemoAccount[];
  signIns: DemoSignIn[];
  /** Whether the sample orders were sent. */
  sampled: boolean;
}

const ROOT = resolve(import.meta.dirname, '../../..');
const DEV_FILE = join(LOCAL_DIRECTORY, 'dev.json');
const LOCK_FILE = join(LOCAL_DIRECTORY, 'start.pid');

const ending = Promise.withResolvers<string>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.resolve(signal));
endWithParent();

const stops: (() => Promise<void>)[] = [];
let exitCode = 0;
try {
  await lock();
  const { failed } = await start();
  const reason = await Promise.race([ending.promise, failed.finally(() => (exitCode = 1))]);
  say(`\n${reason}: stopping everything that was started.`);
} catch (error) {
  say(`npm start: ${lineOf(error)}`);
  exitCode = 1;
}
for (const stop of stops.reverse()) await stop();
process.exit(exitCode);

/** @returns `failed` settles, with a name, when something ends that should not. */
async function start(): Promise<{ failed: Promise<string> }> {
  const secrets = await loadSecrets();
  const secretsKey = process.env.SECRETS_KEY || secrets.secretsKey;
  const services = await startServices({
    directory: LOCAL_DIRECTORY,
    postgresPassword: secrets.postgresPassword,
    databaseUrl: process.env.DATABASE_URL,
    queueUrl: process.env.QUEUE_URL,
    say,
  });
  stops.push(services.stop);
  say(`Runs on ${services.database}; the queue is ${services.queue}.`);
  const { databaseUrl, queueUrl } = services;
  const knex = openKnex({ url: databaseUrl });
  await migrate(knex).finally(() => knex.destroy());
  await migrateQueue(queueUrl);

  const known = await readJson<Partial<DevFile>>(DEV_FILE);
  const accounts = await ensureDemoAccounts(databaseUrl, parseSecretsKey(secretsKey), known?.accounts ?? []);
  const signIns = await ensureDemoSignIns(databaseUrl, accounts[0]?.id as number, known?.signIns ?? []);
  const port = await choosePort('PORT', 8080);
  const portalPort = await choosePort('PORTAL_PORT', 8081, port);
  const [adminPort, workerAdminPort, portalAdminPort] = [await freePort(), await freePort(), await freePort()];
  const base = `http://127.0.0.1:${port}${process.env.BASE_PATH ?? ''}`;
  const portalUrl = `http://127.0.0.1:${portalPort}`;
  const common = { DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl, SECRETS_KEY: secretsKey, LOG_FORMAT: 'text' };
  const intake = await startApp('intake', { ...common, PORT: String(port), ADMIN_PORT: String(adminPort) });
  const worker = await startApp('worker', { ...common, ADMIN_PORT: String(workerAdminPort) });
  const portal = await startApp('portal', {
    ...common,
    PORT: String(portalPort),
    ADMIN_PORT: String(portalAdminPort),
    PORTAL_URL: portalUrl,
    INTAKE_URL: base,
  });
  const failed = Promise.race([services.failed, intake.failed, worker.failed, portal.failed]);
  await Promise.race([
    Promise.all([untilReady(adminPort), untilReady(workerAdminPort), untilReady(portalAdminPort)]),
    failed.then((what) => Promise.reject(new Error(what))),
    ending.promise.then((signal) => Promise.reject(new Error(`${signal} while starting`))),
  ]);

  const adminUrl = `http://127.0.0.1:${adminPort}`;
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
  // On the first start only, as people expect to find the list as they left it.
  if (!known?.sampled) await sendSampleOrders(base, accounts[0]?.apiKey as string);
  await writePrivately(DEV_FILE, dev);
  say(welcome(dev, services.queue));
  return { failed };
}

async function startApp(name: string, settings: Record<string, string>): Promise<Supervised> {
  const main = join(ROOT, 'apps', name, 'src/main.ts');
  const env = { ...process.env, ...settings };
  const start = () => startChild(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const app = await supervise(`The ${name} app`, start, say);
  stops.push(app.stop);
  return app;
}

/** @param taken is given to another app already, which does not listen yet. */
async function choosePort(variable: string, usual: number, taken?: number): Promise<number> {
  const wanted = process.env[variable] ? Number(process.env[variable]) : usual;
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65_535)
    throw new Error(`${variable} must be a number from 0 to 65535.`);
  const port = wanted !== 0 && wanted === taken ? await freePort() : await freePort(wanted);
  if (wanted !== 0 && port !== wanted) say(`Port ${wanted} is taken; using ${port}.`);
  return port;
}

async function untilReady(adminPort: number): Promise<void> {
  for (const started = Date.now(); Date.now() - started < 60_000; await sleep(50)) {
    const reply = await fetch(`http://127.0.0.1:${adminPort}/health/ready`).catch(() => null);
    if (reply?.ok) return;
  }
  throw new Error('The apps did not become ready within a minute; their log above says why.');
}

/** Two starts in one clone would share their data directories. */
async function lock(): Promise<void> {
  const other = Number(await readFile(LOCK_FILE, 'utf8').catch(() => ''));
  if (other && isStart(other))
    throw new Error(`it already runs here, as process ${other}; end that with: kill ${other}`);
  await mkdir(LOCAL_DIRECTORY, { recursive: true });
  await writeFile(LOCK_FILE, String(process.pid));
  stops.push(() => rm(LOCK_FILE, { force: true }));
}

/** Whether that process is an `npm start`; its number may since have been given to any other. */
function isStart(pid: number): boolean {
  return pid !== process.pid && processArguments(pid).includes('local-services/src/start.ts');
}

/** An error in one line; a connection that was refused on every address has only a code. */
function lineOf(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const [line] = error.message.split('\n');
  return line || `cannot connect (${(error as NodeJS.ErrnoException).code ?? error.name})`;
}

/** npm can be killed without passing it on; then nobody could end this process any more. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) ending.resolve('The parent process is gone');
  }, 500).unref();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
