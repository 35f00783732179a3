import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { parseSecretsKey } from '@orders/runtime/config/settings.ts';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startEventReceiver } from '../harness/event-receiver.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const START = join(ROOT, 'packages/dev-server/src/start.ts');

const directory = makeDirectory();
let running: { child: Child; printed: () => string } | undefined;

afterAll(async () => {
  await running?.child.stop();
});

const environment = (settings: Record<string, string>) => ({
  ...baseEnvironment(),
  LOCAL_DIRECTORY: directory,
  ...settings,
});

async function start(
  settings: Record<string, string>,
  ...args: string[]
): Promise<{ child: Child; printed: () => string }> {
  const child = await startChild(process.execPath, [START, ...args], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.process.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await until('it has started', async () => output.includes('Query the status of'));
  return { child, printed: () => output };
}

const readDev = async () => JSON.parse(await readFile(join(directory, 'dev.json'), 'utf8'));

/** Waits until all sample orders are written. */
const samples = (url: string) =>
  withKnex({ url }, (knex) =>
    until('the samples are written', async () => {
      const orders = await knex('orders').whereNot('source_order_id', 'like', 'demo-%').select('warnings');
      return orders.length >= 60 && orders;
    }),
  );

/** Signs in. @returns the session of the portal. */
async function session(portalUrl: string, { email, password }: { email: string; password: string }): Promise<unknown> {
  const signedIn = await fetch(`${portalUrl}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portalUrl },
    body: JSON.stringify({ email, password }),
  });
  const Cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return (await fetch(`${portalUrl}/api/session`, { headers: { Cookie } })).json();
}

/** Processes that were started in this directory. */
function leftBehind(): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(directory));
}

/** Runs the printed commands in a shell. */
function paste(printed: string): string {
  const [, commands = ''] = printed.split('1. Send an order:');
  const script = (commands.split('\nThe portal lists')[0] ?? '').replaceAll(/^\d\. .*$/gm, 'sleep 1');
  const { stdout, stderr, status } = spawnSync('bash', ['-ec', script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describe('npm start', () => {
  test('prints three commands that work as pasted, and leaves no process behind', async () => {
    running = await start({ PORT: '0' });
    const printed = running.printed();
    const [steps = ''] = printed.split('The order ingestion service is running.');
    // It can also say which ports are in use.
    expect(steps.split('\n').filter((line) => line && !line.startsWith('Port '))).toEqual([
      'Starting Postgres and the queue …',
      'Bringing the schema up to date …',
      'Preparing two demo accounts and their users …',
      'Starting intake, a worker, the notifier and the portal …',
      'Sending sample orders …',
    ]);
    // The commands are pasted again until the worker has written the first order in time for the last command.
    const pasted = await until('the status is printed as written', async () => {
      const text = paste(printed);
      return /"status":"written","order_id":\d+/.test(text) && text;
    });
    expect(pasted.match(/HTTP\/1\.1 202/g)).toHaveLength(2);
    const dev = await readDev();
    expect(dev.accounts).toMatchObject([
      { name: 'Demo Kitchen', apiKey: expect.stringMatching(/^oik_/), signingSecret: expect.any(String) },
      { name: 'Demo Market', apiKey: expect.stringMatching(/^oik_/), signingSecret: null },
    ]);
    expect((await stat(join(directory, 'dev.json'))).mode & 0o777).toBe(0o600);
    expect(dev.signIns).toMatchObject([
      { email: 'demo@example.com', role: 'account_holder' },
      { email: 'operator@example.com', role: 'operator' },
    ]);
    for (const signIn of dev.signIns) {
      expect(running.printed()).toContain(`${signIn.email}  ${signIn.password}`);
      expect(await session(dev.portalUrl, signIn)).toMatchObject({ role: signIn.role, intake_url: dev.intakeUrl });
    }
    expect((await fetch(dev.portalUrl)).headers.get('Content-Type')).toContain('text/html');
    const orders = await samples(dev.databaseUrl);
    expect(orders).toHaveLength(60);
    expect(orders.filter(({ warnings }) => warnings.length > 0)).toHaveLength(20);
    await withKnex({ url: dev.databaseUrl }, async (knex) => {
      expect(await knex('orders').where({ review_state: 'cancelled' }).pluck('source_order_id')).toEqual([
        'demo-cancelled',
      ]);
      expect(await knex('cancellation_requests').pluck('closed_at')).toEqual([null]);
    });
    await running.child.stop('SIGTERM');
    expect(running.child.process.exitCode).toBe(0);
    expect(leftBehind()).toEqual([]);
  });

  test('explains its arguments, and rejects others', () => {
    const run = (argument: string) => spawnSync(process.execPath, [START, argument], { encoding: 'utf8' });
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--verbose') });
    expect(run('--loud')).toMatchObject({
      status: 2,
      stdout: expect.stringMatching(/^npm start: Unknown option '--loud'/),
    });
  });

  test('says in one line that the port it was told to use is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await until('it listens', async () => taken.listening);
    const { port } = taken.address() as { port: number };
    const env = environment({ PORTAL_PORT: String(port) });
    const { status, stdout, stderr } = spawnSync(process.execPath, [START], { env, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: `npm start: port ${port} of PORTAL_PORT is in use; set another, or unset it to get a free one.\n`,
      stderr: '',
    });
    taken.close();
  });

  test('keeps the data, the keys and the ports at a second start', async () => {
    const before = await readDev();
    running = await start({ PORT: '0' }, '--verbose');
    expect(running.printed()).toMatch(/^Starting intake, a worker, the notifier and the portal: \d+\.\d s$/m);
    const after = await readDev();
    const { portalUrl, adminUrl, databaseUrl } = before;
    expect(after).toMatchObject({ portalUrl, adminUrl, databaseUrl });
    expect(after.accounts).toEqual(before.accounts);
    expect(after.signIns).toEqual(before.signIns);
    expect(await session(after.portalUrl, after.signIns[0])).toMatchObject({ role: 'account_holder' });
    const receipts = async (sourceOrderId: string) =>
      withKnex({ url: after.databaseUrl }, (knex) => knex('receipts').where({ source_order_id: sourceOrderId }));
    expect(await receipts('TLB-48211')).toHaveLength(1);
    // The idempotency key is known, so the receipt of the first start is returned.
    expect(paste(running.printed())).toContain('"duplicate":true');
  });

  test("delivers the demo account's events to an endpoint on this machine", async () => {
    const { databaseUrl, intakeUrl, accounts } = await readDev();
    const { secretsKey } = JSON.parse(await readFile(join(directory, 'secrets.json'), 'utf8'));
    const receiver = await startEventReceiver();
    const { secret } = await withKnex({ url: databaseUrl }, (knex) =>
      createEndpoint(connectionOf(knex), parseSecretsKey(secretsKey), {
        accountId: accounts[0].id,
        url: receiver.url,
        types: null,
      }),
    );
    await fetch(`${intakeUrl}/ingest/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${accounts[0].apiKey}`, 'Content-Type': 'application/json' },
      body: '{"source_order_id":"told"}',
    });
    const delivery = await until('the event is delivered', async () =>
      receiver.received.find(({ event }) => event.type === 'receipt.written' && event.data.source_order_id === 'told'),
    );
    receiver.verify(delivery, secret);
    await receiver.close();
  });

  test('restarts an app that is killed', async () => {
    const { intakeUrl } = await readDev();
    const children = () => {
      const { stdout } = spawnSync('ps', ['-eo', 'ppid=,pid=,args='], { encoding: 'utf8' });
      const lines = stdout.split('\n').map((line) => line.trim().split(/ +/));
      return lines.flatMap(([parent, pid, ...args]) =>
        Number(parent) === running?.child.pid && args.join(' ').includes('/apps/') ? [Number(pid)] : [],
      );
    };
    const before = children();
    expect(before).toHaveLength(4);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await until(
      'all run again',
      async () => children().length === 4 && !children().some((pid) => before.includes(pid)),
    );
    await until('intake answers again', () =>
      fetch(`${intakeUrl}/openapi.json`).then(
        (reply) => reply.ok,
        () => false,
      ),
    );
  });

  test('rejects a second start at the same time with one line', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [START], { env: environment({}), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toMatch(/^npm start: already running here as process \d+/);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test('ends on Ctrl-C', async () => {
    await running?.child.stop('SIGINT');
    expect(running?.child.process.exitCode).toBe(0);
    expect(leftBehind()).toEqual([]);
  });
});

test('npm start in a fresh clone installs what running needs, builds the page and starts', async () => {
  const clone = makeDirectory();
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const { CI: _, ...env } = process.env;
  // What npm runs; npm itself ends before what it runs.
  const child = await startChild('sh', [join(clone, 'packages/dev-server/start.sh')], {
    env: { ...env, PORT: '0', PORTAL_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  child.process.stdout?.on('data', (chunk) => {
    printed += chunk;
    if (printed.includes('The order ingestion service is running.')) start();
  });
  await Promise.race([started, child.exited]);
  expect(printed).toContain("Building the portal's page …");
  expect(existsSync(join(clone, 'node_modules/jest'))).toBe(false);
  const packages = (await readdir(join(clone, 'node_modules/.pnpm'))).filter((name) => name.includes('@'));
  expect(packages.length).toBeLessThan(350);
  await child.stop('SIGINT');
  expect(child.process.exitCode).toBe(0);
});
