import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeArchive } from '@orders/bundle/archive.ts';
import { BUNDLE_DIRECTORY, bundleApps } from '@orders/bundle/bundle-apps.ts';
import { packServedClient } from '@orders/bundle/pack-client.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { dropDatabase, ensureDatabase } from '@orders/test-services/databases.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { openApi } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { blocksUnder } from '../harness/markdown-blocks.ts';
import { createPerson } from '../harness/people.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { TEST_HASH_COST } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const running: Child[] = [];

const { stack } = useStack({ queue: QUEUE_KINDS.at(-1) ?? 'postgres' });

beforeAll(async () => {
  await bundleApps();
  await packServedClient();
});
afterAll(async () => {
  await Promise.all(running.map((child) => child.stop()));
});

/** Starts an app of the bundle and waits until it is ready. @returns its URL. */
async function start(app: string, settings: Record<string, string> = {}): Promise<string> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const env = { ...stack.env, LOG_LEVEL: 'error', PORT: String(port), ADMIN_PORT: String(adminPort), PORTAL_URL: url };
  running.push(
    await startChild(process.execPath, [join(BUNDLE_DIRECTORY, `${app}.js`)], {
      env: { ...baseEnvironment(), ...env, ...settings },
      stdio: 'inherit',
    }),
  );
  await untilReady(adminPort);
  return url;
}

test('the bundled apps take an order with tracing on, write it, and serve their pages', async () => {
  const intake = await start('intake', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await start('worker');
  await start('notifier');
  const account = await stack.account();
  const api = await openApi(intake);
  // A body of this size is parsed in the thread, which has a file of its own.
  const order = { source_order_id: 'bundled', customer: { name: 'مريم' }, unknown: 'x'.repeat(20_000) };
  expect(await api.process(account, order)).toMatchObject({ status: 'written' });
  for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/docs/senders', '/docs/senders/copy.js'])
    expect((await fetch(intake + path)).status).toBe(200);
  const sums = await (await fetch(`${intake}/docs/senders/clients/SHA256SUMS`)).text();
  const listed = [...sums.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm)];
  expect(listed.map(([, , name]) => name)).toEqual(['orders.py', 'orders.php', 'orders-client.tgz']);
  for (const [, sum, name] of listed) {
    const file = await fetch(`${intake}/docs/senders/clients/${name}`);
    const digest = createHash('sha256')
      .update(await file.bytes())
      .digest();
    expect([digest.toString('hex'), file.headers.get('repr-digest')]).toEqual([
      sum,
      `sha-256=:${digest.toString('base64')}:`,
    ]);
  }
});

test('the bundled portal signs in an operator and serves its page and the help', async () => {
  const settings = { OPERATOR_SECOND_FACTOR: 'optional', PASSWORD_HASH_COST: TEST_HASH_COST };
  const portal = await start('portal', { INTAKE_URL: 'http://127.0.0.1:9', ...settings });
  const { email, password } = await createPerson(stack, null);
  const session = await fetch(`${portal}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal },
    body: JSON.stringify({ email, password }),
  });
  expect(session.status).toBe(204);
  const cookies = session.headers.getSetCookie().map((one) => one.split(';')[0]);
  for (const path of ['/', '/help/ar', '/help/theme.js', '/api/operator/service'])
    expect((await fetch(portal + path, { headers: { Cookie: cookies.join('; ') } })).status).toBe(200);
});

/** Copies into a new directory what the image consists of. */
async function assembleImage(): Promise<string> {
  const root = makeDirectory();
  const isCopied = (path: string) => !/\/(node_modules|test)$/.test(path);
  for (const path of ['package.json', 'apps', 'packages', 'docs/senders', 'docs/portal', 'deploy/postgres', 'bundle'])
    await cp(join(ROOT, path), join(root, path), {
      recursive: true,
      filter: path === 'bundle' ? () => true : isCopied,
    });
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const [, removal] = /^RUN (.* find apps packages .* -delete)$/m.exec(dockerfile) ?? [];
  await promisify(execFile)('sh', ['-ec', String(removal)], { cwd: root });
  return root;
}

test('the command line of the image creates the schema, grants the apps their rights, and reads accounts', async () => {
  const root = await assembleImage();
  const url = new URL(stack.env.DATABASE_URL as string);
  url.pathname += '_image';
  await ensureDatabase(url.href);
  const orders = async (env: Record<string, string>, ...args: string[]) => {
    const options = { env: { ...baseEnvironment(), ...stack.env, ...env } };
    return (await promisify(execFile)(process.execPath, [join(root, 'bundle/cli.js'), ...args], options)).stdout;
  };
  try {
    expect(await orders({}, '--version')).toContain(VERSION);
    for (const client of ['python/orders.py', 'php/orders.php'])
      expect(existsSync(join(root, 'packages/client', client))).toBe(true);
    expect(await orders({}, 'migrate')).toContain("The apps' roles have their privileges.");
    const env = { DATABASE_URL: url.href };
    expect(await orders(env, 'migrate')).toContain('Migrations run: 001-schema.');
    expect(await orders(env, 'accounts', 'list')).toBe('There are no accounts.\n');
  } finally {
    await dropDatabase(url.href);
    await rm(root, { recursive: true, force: true });
  }
});

/** The settings and the command of a unit of systemd. @param place gives the place of a path of the machine. */
async function readUnit(unit: string, place: (text: string) => string) {
  const text = await readFile(join(ROOT, 'deploy/systemd', unit), 'utf8');
  const valuesOf = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const files = await Promise.all(valuesOf('EnvironmentFile').map((path) => readFile(place(path), 'utf8')));
  const lines = [...valuesOf('Environment'), ...files.join('').split('\n')].filter((line) => line.includes('='));
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const [command = '', ...args] = place(valuesOf('ExecStart')[0] ?? '').split(' ');
  return { command, args, env: env as Record<string, string> };
}

test('the archive is installed by the page about systemd, and its units take and write an order', async () => {
  const page = await readFile(join(ROOT, 'docs/operating/systemd.md'), 'utf8');
  const machine = makeDirectory();
  // A server of its own, because roles belong to all databases of a server.
  const server = await startFaultyPostgres([], { direct: true });
  try {
    const archive = await writeArchive(machine);
    const { host, pathname, username, password } = new URL(server.directUrl);
    const place = (text: string) => text.replaceAll(/(?<![\w./-])\/(?=opt|etc|usr)/g, `${machine}/`);
    const database = `database=${host}${pathname} owner=${username} owner_password=${password}`;
    const paste = async (heading: string, last?: number) => {
      const text = place(blocksUnder(page, heading, '').slice(0, last).join('\n'))
        .replace(/^database=.*$/m, database)
        .replace('orders-*-linux-*.tar.gz', archive);
      const env = { ...baseEnvironment(), PATH: `${machine}/usr/local/bin:${process.env.PATH}` };
      return (await promisify(execFile)('bash', ['-euc', text], { cwd: machine, env })).stdout;
    };
    for (const path of ['opt', 'etc/systemd/system', 'usr/local/bin'])
      await mkdir(join(machine, path), { recursive: true });
    await paste('Install');
    // The owner and the database exist.
    await paste('Settings', 1);
    const settings = join(machine, 'etc/orders');
    expect((await stat(join(settings, 'migrate.env'))).mode & 0o77).toBe(0);
    await appendFile(join(settings, 'common.env'), `QUEUE_URL=${stack.env.QUEUE_URL}\n`);
    await appendFile(join(settings, 'portal.env'), 'PORTAL_URL=http://localhost:1\nOPERATOR_SECOND_FACTOR=optional\n');

    const migrate = await readUnit('orders-migrate.service', place);
    const run = { env: { ...baseEnvironment(), ...migrate.env } };
    await promisify(execFile)(migrate.command, migrate.args, run);
    const first = await paste('The first account');
    expect(first).toContain('https://portal.example.com/');
    const [key = ''] = /oik_\w+/.exec(first) ?? [];

    const port = String(await freePort());
    for (const name of ['intake', 'worker@', 'portal', 'notifier']) {
      const { command, env } = await readUnit(`orders-${name}.service`, place);
      expect(env.DATABASE_URL).toContain(`//orders_${name.replace('@', '')}@`);
      const ports = { PORT: name === 'intake' ? port : '0', ADMIN_PORT: String(await freePort()), LOG_LEVEL: 'error' };
      running.push(
        await startChild(command, [], { env: { ...baseEnvironment(), ...env, ...ports }, stdio: 'inherit' }),
      );
      await untilReady(Number(ports.ADMIN_PORT));
    }
    const api = await openApi(`http://127.0.0.1:${port}`);
    const account = { id: 1, key, secret: null };
    expect(await api.process(account, { source_order_id: 'without containers' })).toMatchObject({ status: 'written' });
  } finally {
    await Promise.all(running.splice(0).map((child) => child.stop()));
    await server.close();
    await rm(machine, { recursive: true, force: true });
  }
});
