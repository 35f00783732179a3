import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from '@orders/client';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { writeXlsx } from 'hucre';
import { makeDirectory } from '../harness/directory.ts';
import { blocksUnder } from '../harness/markdown-blocks.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { packClient } from '../harness/sender-pages.ts';
import { useStack } from '../harness/use-stack.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'packages/client');
const read = (path: string) => readFileSync(path, 'utf8');
const { version } = JSON.parse(read(join(ROOT, 'package.json')));
/** The examples of the README that are complete programs. */
const [firstOrder] = [...read(join(PACKAGE, 'README.md')).matchAll(/```js\n(import .*?)```/gs)].map(
  ([, code]) => code as string,
);

/** The lines of the guide that need no package beforehand: they run the command, and install it. */
const [runLine = '', installLine = ''] = blocksUnder(
  read(join(ROOT, 'docs/senders/bulk.md')),
  'The command',
  'shell',
).map((line) => line.trim());

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim();
/** A Node of another version: OTHER_NODE, or the first on the PATH. */
const otherNode = [
  process.env.OTHER_NODE ?? [],
  (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node')),
]
  .flat()
  .find((node) => ![undefined, process.version].includes(versionOf(node)));

/** The kinds of modules and of their resolution, and the platform types, that the declarations support. */
const PROJECTS = [
  { type: 'module', module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] },
  { type: 'module', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
  { type: 'commonjs', module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: ['node'] },
  { type: 'commonjs', module: 'commonjs', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
];

const directory = makeDirectory();
let project: string;

/** Packs the client like a release and installs it in an empty project without a registry. */
beforeAll(async () => {
  const tarball = await packClient(directory);
  expect(basename(tarball)).toBe(`orders-client-${version}.tgz`);
  project = join(directory, 'project');
  await mkdir(project);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});

test('the first example writes an order in ten lines', () => {
  expect(firstOrder?.trim().split('\n').length).toBeLessThanOrEqual(10);
});

test('the published package is JavaScript with types, the documented metadata, and nothing else', async () => {
  const packages = await readdir(join(project, 'node_modules'), { recursive: true });
  expect(packages.filter((path) => /^(?!\.|.*\/licences\/).*package\.json$/.test(path))).toHaveLength(1);
  const installed = join(project, 'node_modules/@orders/client');
  const files = await readdir(installed);
  const modules = (await readdir(join(PACKAGE, 'src'))).map((file) => file.replace(/\.ts$/, ''));
  const wanted = modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`]);
  const others = ['bin', 'index.mjs', 'index.d.mts', 'LICENSE', 'README.md', 'package.json'];
  expect(new Set(files)).toEqual(new Set([...wanted, ...others]));
  expect(JSON.parse(read(join(installed, 'package.json')))).toEqual({
    name: '@orders/client',
    version,
    type: 'commonjs',
    description: expect.any(String),
    keywords: expect.any(Array),
    main: './index.js',
    types: './index.d.ts',
    bin: { orders: 'bin/orders.mjs' },
    license: 'MIT',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: {
      '.': {
        import: { types: './index.d.mts', default: './index.mjs' },
        default: { types: './index.d.ts', default: './index.js' },
      },
      './package.json': './package.json',
    },
  });
  for (const file of wanted)
    expect(read(join(installed, file))).not.toMatch(/(?:from |require\()["'](?!\.\/[\w-]+\.js["'])/);
});

describe.each(PROJECTS)('a $type project of $moduleResolution, on the types of $types$lib', ({ type, ...options }) => {
  const check = async (source: string) => {
    await writeFile(join(project, 'first.ts'), source);
    const compilerOptions = { ...options, strict: true, exactOptionalPropertyTypes: true, noEmit: true };
    const typeRoots = [join(ROOT, 'node_modules/@types')];
    const config = { compilerOptions: { ...compilerOptions, target: 'es2022', typeRoots }, files: ['first.ts'] };
    await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    return run(process.execPath, [compiler, '-p', project]).then(
      () => '',
      ({ stdout }) => stdout as string,
    );
  };
  const environment = `declare const process: { env: { ORDERS_URL: string; ORDERS_API_KEY: string } };\n`;
  const program = options.types.includes('node')
    ? firstOrder?.replace('= process.env', '= process.env as Record<string, string>')
    : environment + firstOrder;
  const withTypes =
    program?.replace('{ baseUrl, apiKey }', '{ baseUrl: baseUrl as string, apiKey: apiKey as string }') ?? '';
  const typed = type === 'module' ? withTypes : withoutTopLevelAwait(withTypes);

  test('compiles the example', async () => {
    expect(await check(typed)).toBe('');
  });

  test('reports a misspelled field and an unknown status', async () => {
    const wrong = `${typed.replace('emirate:', 'emirates:').replace('console.log', "if (receipt.status === 'lost') console.log")}`;
    expect(await check(wrong)).toMatch(/'emirates' does not exist[\s\S]*no overlap/);
  });
});

/** CommonJS has no top-level await. */
function withoutTopLevelAwait(source: string): string {
  const [imported = '', body = ''] = source.split(/(?<=from '@orders\/client';\n)/);
  return `${imported}(async () => {\n${body}})();\n`;
}

/** Uses every export once. */
const EVERYTHING = `
import { once } from 'node:events';
import { createServer } from 'node:net';
import { OrdersClient, signBody, verifySignature } from '@orders/client';
const { ORDERS_URL: baseUrl, ORDERS_API_KEY: apiKey, ORDERS_SIGNING_SECRET: signingSecret } = process.env;
const orders = new OrdersClient({ baseUrl, apiKey, signingSecret });
const results = {};
results.webhook = (await orders.sendWebhook({ source_order_id: 'w' }, { wait: 30 })).status;
results.many = 0;
const input = Array.from({ length: 20 }, (_, index) => ({ source_order_id: String(index) }));
for await (const { accepted } of orders.submitMany(input)) if (accepted) results.many++;
results.preview = (await orders.preview({ source_order_id: 'p', emirate: 'dxb' })).normalized.emirate_code;
results.refused = await orders.submitOrder({}).catch(({ name, code }) => name + ' ' + code);
results.aborted = await orders.submitOrder({}, { signal: AbortSignal.abort('enough') }).catch((reason) => reason);
const silentServer = createServer((socket) => socket.unref()).listen(0, '127.0.0.1').unref();
await once(silentServer, 'listening');
const silent = new OrdersClient({ baseUrl: 'http://127.0.0.1:' + silentServer.address().port, apiKey });
results.late = await silent.submitOrder({}, { timeoutMs: 50 }).catch(({ name }) => name);
results.nobody = await new OrdersClient({ baseUrl: 'http://127.0.0.1:9', apiKey, maxRetries: 0 }).submitOrder({}).catch(({ name }) => name);
results.verified = await verifySignature('x', await signBody('x', 'new'), ['old', 'new']);
console.log(JSON.stringify(results));
`;

/** Compares what a CommonJS module gets with what an ES module gets. */
const BOTH = `
const required = require('@orders/client');
import('@orders/client').then((imported) => {
  const same = Object.keys(imported).filter((name) => imported[name] === required[name]);
  console.log(JSON.stringify({ imported: Object.keys(imported), required: Object.keys(required), same }));
});
`;

const NODES: [version: string, node: string | undefined][] = [
  [process.version, process.execPath],
  otherNode
    ? [`${versionOf(otherNode)}`, otherNode]
    : ['of another version, of which this machine has none: name one by OTHER_NODE', undefined],
];

describe.each(NODES)('on Node %s', (nodeVersion, node) => {
  const testOnIt = node ? test : test.skip;
  let settings: Record<string, string>;
  const running: Child[] = [];

  const { stack, knex, account } = useStack({ queue: QUEUE_KIND, account: true });

  beforeAll(async () => {
    settings = {
      ...stack.env,
      PORT: `${await freePort()}`,
      ADMIN_PORT: `${await freePort()}`,
    };
    if (node) await startIntake();
  });
  afterAll(async () => {
    await Promise.all(running.map((child) => child.stop('SIGKILL')));
  });

  async function startIntake(): Promise<void> {
    running.push(await startApp('intake', settings));
    await untilReady(Number(settings.ADMIN_PORT));
  }

  function start(program: string) {
    writeFileSync(join(project, 'program.mjs'), program);
    const env = {
      ORDERS_URL: `http://127.0.0.1:${settings.PORT}`,
      ORDERS_API_KEY: account.key,
      ORDERS_SIGNING_SECRET: account.secret ?? '',
    };
    return run(node as string, ['program.mjs'], { cwd: project, env });
  }

  testOnIt(
    'ten lines submit an order and wait, the service is killed and started again in between: one order',
    async () => {
      const program = start((firstOrder ?? '').replace('const receipt =', 'console.log(receipt_id);\nconst receipt ='));
      const [accepted] = await once(program.child.stdout as Readable, 'data');
      await running[0]?.stop('SIGKILL');
      await startIntake();
      await stack.worker();
      const { stdout, stderr } = await program;
      const orders = await knex('orders').where({ account_id: account.id });
      expect(orders).toHaveLength(1);
      expect({ stdout, stderr }).toEqual({
        stdout: `${accepted}written ${orders[0].order_id}\n`,
        stderr: '',
      });
    },
  );

  /** Starts the command of the package. */
  function orders(...args: string[]) {
    const env = { ORDERS_URL: `http://127.0.0.1:${settings.PORT}`, ORDERS_API_KEY: account.key };
    return run(node as string, ['node_modules/@orders/client/bin/orders.mjs', ...args], { cwd: project, env });
  }

  testOnIt('the command sends a table and a sheet, previews, cancels, and posts events to a program', async () => {
    await setEvents(stack.database.db, account.id, true);
    await stack.worker();
    await writeFile(join(project, 'till.csv'), 'source_order_id,emirate\nC-1,Dubai\nC-2,Sharjha\n');
    expect((await orders('send', 'till.csv')).stdout).toMatch(/\b2 +written\b/);
    const sheet = await writeXlsx({ sheets: [{ name: 'Orders', rows: [['source_order_id'], ['X-1']] }] });
    await writeFile(join(project, 'till.xlsx'), sheet);
    expect((await orders('send', 'till.xlsx')).stdout).toMatch(/\b1 +written\b/);
    await writeFile(join(project, 'order.json'), '{"source_order_id":"C-2","emirate":"dxb"}');
    expect((await orders('preview', 'order.json')).stdout).toMatch(/^emirate +Dubai \(AE-DU\)$/m);
    expect((await orders('cancel', 'C-1')).stdout).toMatch(/^C-1 .* cancelled$/m);
    const listener = createServer((request, response) => request.resume().on('end', () => response.end()));
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const to = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    expect((await orders('listen', '--forward-to', to, '--replay', '1')).stdout).toMatch(/ receipt\.written .* 200 /);
    listener.close();
    const help = await orders('--help');
    expect(help.stdout).not.toMatch(/DATABASE_URL|migrate/);
    await expect(orders('migrate')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown command'),
    });
  });

  testOnIt(
    'the lines of the guide run the command from the service without installing it, and install it',
    async () => {
      await stack.worker();
      const fresh = join(directory, `fresh-${nodeVersion}`);
      await mkdir(fresh);
      await writeFile(join(fresh, 'friday.csv'), 'source_order_id\nNPX-1\n');
      const env = {
        ORDERS_URL: `http://127.0.0.1:${settings.PORT}`,
        ORDERS_API_KEY: account.key,
        HOME: fresh,
        npm_config_prefix: fresh,
        PATH: [dirname(node as string), join(fresh, 'bin'), process.env.PATH].join(delimiter),
      };
      expect((await run('bash', ['-c', runLine], { cwd: fresh, env })).stdout).toMatch(/\b1 +written\b/);
      await run('bash', ['-c', installLine], { cwd: fresh, env });
      expect((await run('orders', ['--version'], { cwd: fresh, env })).stdout).toContain(version);
      const page = await (await fetch(`${env.ORDERS_URL}/docs/senders/clients.md`)).text();
      const [lines = ''] = blocksUnder(page, 'Install', 'shell');
      await run('bash', ['-ec', lines], { cwd: fresh, env });
      const lock = JSON.parse(read(join(fresh, 'package-lock.json'))).packages['node_modules/@orders/client'];
      expect(lock).toMatchObject({ version, resolved: expect.stringMatching(`/orders-client-${version}\\.tgz$`) });
      await run('npm', ['ci', '--cache', join(fresh, 'other-cache')], { cwd: fresh, env });
      expect(read(join(PACKAGE, 'README.md'))).toContain(runLine.replace('friday.csv', 'orders.csv'));
    },
  );

  testOnIt('require and import return the same classes and functions', async () => {
    await writeFile(join(project, 'both.cjs'), BOTH);
    // Newer versions can also require an ES module; the package must not need it.
    const { stdout: canRequireModules } = await run(node as string, ['-p', 'process.features.require_module === true']);
    const flags = canRequireModules === 'true\n' ? ['--no-experimental-require-module'] : [];
    const { stdout } = await run(node as string, [...flags, 'both.cjs'], { cwd: project });
    const { imported, required, same } = JSON.parse(stdout);
    expect(imported).toEqual(Object.keys(client));
    expect(same).toEqual(imported);
    expect(new Set(required)).toEqual(new Set(imported));
  });

  testOnIt('all of it works', async () => {
    const { stdout, stderr } = await start(EVERYTHING);
    expect({ results: JSON.parse(stdout), stderr }).toEqual({
      results: {
        webhook: 'written',
        many: 20,
        preview: 'AE-DU',
        refused: 'ValidationError validation_failed',
        aborted: 'enough',
        late: 'TimeoutError',
        nobody: 'ConnectionError',
        verified: true,
      },
      stderr: '',
    });
  });
});

describeWith('openssl', 'python3')('the Python client', () => {
  test('passes its own tests', async () => {
    const script = join(import.meta.dirname, 'python-client.py');
    const client = resolve(import.meta.dirname, '../../packages/client/python');
    // It fails with what the tests print.
    const { stderr } = await run('python3', [script, client]);
    expect(stderr).toMatch(/^OK$/m);
  });
});
