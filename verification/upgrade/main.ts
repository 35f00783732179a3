/**
 * Upgrades a running service of an older revision to this working tree under load, and takes it back again:
 *
 *     npm run test:upgrade -- [REVISION]
 *
 * The revision is the newest release unless one is named. Postgres, Redis, haproxy and all processes are its own, on the loopback.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { mainOf, runOrdersOf, startProgram, untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { ensureDatabase } from '@orders/test-services/databases.ts';
import { withKnex } from '@orders/test-services/open-knex.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { startRedis } from '@orders/test-services/redis.ts';
import { until } from '@orders/test-services/until.ts';
import { compareSchemas } from '../../test/harness/describe-schema.ts';
import { type Haproxy, SAFE_DRAIN_DELAY, type Server, startHaproxy } from '../../test/harness/haproxy.ts';
import { type Ledger, onOneConnection, startSteadyLoad } from '../../test/harness/steady-load.ts';
import { checkOut, newestRelease } from './check-out.ts';

const NEW = resolve(import.meta.dirname, '../..');
const SERVERS: Server[] = ['intake1', 'intake2'];
const SENDERS = 8;

const say = (text: string) => process.stdout.write(`${text}\n`);

/**
 * Two intakes behind haproxy and two workers of the old version; under load `orders migrate` of this one, then each process replaced, the
 * workers first; then, on the schema of this version, each replaced by an old one again, the intakes first.
 * The migrated schema is compared with a fresh one.
 *
 * @param old the working tree of the old version.
 * @returns what went wrong.
 */
async function testUpgrade(old: string, directory: string): Promise<string[]> {
  const closes: (() => Promise<unknown>)[] = [];
  try {
    // Postgres runs as another user where this runs as root.
    await chmod(directory, 0o755);
    const postgres = await startPostgres({ directory: join(directory, 'postgres'), password: 'upgrade' });
    closes.push(() => postgres.stop());
    await ensureDatabase(postgres.url);
    const redis = await startRedis({ directory: join(directory, 'redis') });
    closes.push(() => redis.child.stop());
    const env = {
      DATABASE_URL: postgres.url,
      QUEUE_URL: redis.url,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      SWEEP_AFTER: '2s',
    };
    const haproxy = await startHaproxy();
    closes.push(() => haproxy.close());
    const launch: Launch = async (root, app, own = {}) => {
      const child = await startProgram(mainOf(app, root), { LOG_LEVEL: 'error', ...env, ...own });
      closes.push(() => child.stop());
      return child;
    };
    const service = await startService({ env, haproxy, root: old, launch });
    await runOrdersOf(old, env, 'accounts', 'create', 'Upgrade');
    const { key } = JSON.parse(await runOrdersOf(old, env, 'keys', 'create', 'Upgrade', '--json'));
    const senders = Array.from({ length: SENDERS }, () => onOneConnection(haproxy.url, { key }));
    const { ledger, untilAccepted, stop } = startSteadyLoad(senders);
    const report = async (step: string) => {
      await untilAccepted(200);
      say(`${step}: ${ledger.accepted.size} accepted, ${ledger.failed.size} failed`);
    };
    await report('the old version');
    say((await runOrdersOf(NEW, env, 'migrate')).split('\n')[0] ?? '');
    const differences = await compareWithFresh(env);
    say(`the schema: ${differences.length} differences from a fresh one`);
    await report('the old version on the new schema');
    await service.replaceWorkers(NEW);
    await report('with new workers');
    await service.replaceIntakes(NEW);
    await report('the new version');
    await service.replaceIntakes(old);
    await service.replaceWorkers(old);
    await report('the old version again');
    await stop();
    const refusals = Map.groupBy(ledger.failed.values(), (failure) => failure);
    const failed = [...refusals].map(([failure, all]) => `${all.length} requests: ${failure}`);
    return [...differences, ...failed, ...(await findLoss(env, ledger))];
  } finally {
    for (const close of closes.reverse()) await close();
  }
}

/** Starts an app of a working tree, which is stopped at the end. */
type Launch = (root: string, app: string, own?: Record<string, string>) => Promise<Child>;

interface Service {
  /** Replaces each worker by one of another working tree, one after the other. */
  replaceWorkers(root: string): Promise<void>;
  replaceIntakes(root: string): Promise<void>;
}

async function startService({
  env,
  haproxy,
  root: first,
  launch,
}: {
  env: Record<string, string>;
  haproxy: Haproxy;
  root: string;
  launch: Launch;
}): Promise<Service> {
  await runOrdersOf(first, env, 'migrate');
  const startWorker = (root: string) => launch(root, 'worker');
  const startIntake = async (root: string, server: Server) => {
    const { port, adminPort } = haproxy.ports[server];
    const own = { PORT: String(port), ADMIN_PORT: String(adminPort), DRAIN_DELAY: SAFE_DRAIN_DELAY };
    const child = await launch(root, 'intake', own);
    await untilReady(adminPort, { child });
    await haproxy.untilUp(server);
    return child;
  };
  const workers = [await startWorker(first), await startWorker(first)];
  const intakes = { intake1: await startIntake(first, 'intake1'), intake2: await startIntake(first, 'intake2') };
  async function replaceWorkers(root: string): Promise<void> {
    for (const [index, worker] of workers.entries()) {
      await endWell(worker);
      workers[index] = await startWorker(root);
    }
  }
  async function replaceIntakes(root: string): Promise<void> {
    for (const server of SERVERS) {
      await endWell(intakes[server]);
      intakes[server] = await startIntake(root, server);
    }
  }
  return { replaceWorkers, replaceIntakes };
}

async function endWell(child: Child): Promise<void> {
  await child.stop();
  if (child.process.exitCode !== 0) throw new Error(`a process ended with ${child.process.exitCode ?? 'a signal'}`);
}

/** @returns how the upgraded schema differs from one that this version makes of an empty database. */
async function compareWithFresh(env: { DATABASE_URL: string }): Promise<string[]> {
  const url = new URL(env.DATABASE_URL);
  url.pathname += '_fresh';
  await ensureDatabase(url.href);
  await runOrdersOf(NEW, { ...env, DATABASE_URL: url.href }, 'migrate');
  return withKnex({ url: env.DATABASE_URL }, (upgraded) =>
    withKnex({ url: url.href }, async (fresh) => {
      const { missing, unexpected } = await compareSchemas(upgraded, fresh);
      return [
        ...missing.map((line) => `the upgraded schema lacks: ${line}`),
        ...unexpected.map((line) => `only the upgraded schema has: ${line}`),
      ];
    }),
  );
}

/** Waits until each receipt is final, and compares what is stored with what was accepted. */
async function findLoss(env: { DATABASE_URL: string }, { accepted }: Ledger): Promise<string[]> {
  return withKnex({ url: env.DATABASE_URL }, async (knex) => {
    const receipts = await until('each receipt is final', async () => {
      const rows = await knex('receipts').select('receipt_id', 'state');
      return rows.every(({ state }) => isFinal(state)) && rows;
    });
    const states = new Map(receipts.map(({ receipt_id, state }) => [receipt_id, state]));
    const stored = await knex('orders').pluck('source_order_id');
    const lost = [...accepted].filter(([id, receiptId]) => states.get(receiptId) !== 'written' || !stored.includes(id));
    const doubled = stored.length - new Set(stored).size;
    say(`${accepted.size} accepted, ${stored.length} orders, ${lost.length} lost, ${doubled} doubled`);
    return [...lost.map(([id]) => `lost: ${id}`), ...(doubled > 0 ? [`${doubled} orders doubled`] : [])];
  });
}

const revision = process.argv[2] ?? (await newestRelease());
if (!revision) {
  process.stderr.write(
    'Nothing is released yet: there is no tag v*. Name a revision: npm run test:upgrade -- <revision>\n',
  );
  process.exit(2);
}
const directory = await mkdtemp(join(tmpdir(), 'orders-upgrade-'));
try {
  say(`Installing ${revision}.`);
  const old = join(directory, 'old');
  await mkdir(old);
  await checkOut(revision, old);
  const failures = await testUpgrade(old, directory);
  for (const failure of failures) say(`FAILED  ${failure}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  await rm(directory, { recursive: true, force: true });
}
