import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { makeDirectory } from '../harness/directory.ts';
import { MAIN, type Outcome, spawnCommand } from '../harness/run-command.ts';
import { expectDecent, useCli } from './run.ts';

const cli = useCli();
/** Runs a command as an operator does, in its own process. */
async function runProcess(argv: string[], env: Record<string, string>): Promise<Outcome> {
  const outcome = await spawnCommand(argv, { NODE_ENV: 'production', ...env }).ended;
  expectDecent(outcome);
  return outcome;
}

test('exit codes and streams are those of a real process, which ends', async () => {
  const env = { DATABASE_URL: cli.url };
  const made = await runProcess(['accounts', 'create', 'Real', '--json'], env);
  expect(made.code).toBe(0);
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'Real' });
  expect(await runProcess(['accounts', 'show', 'Nobody'], env)).toMatchObject({ code: 1 });
  expect(await runProcess(['accounts', 'shw'], env)).toMatchObject({ code: 2 });
  expect(await runProcess(['--help'], {})).toMatchObject({ code: 0 });
  expect(await runProcess(['accounts', 'list'], {})).toMatchObject({ code: 2 });
});

test.each(['send', 'events'])('%s, for senders, loads no driver of a database or a queue', async (command) => {
  const directory = makeDirectory();
  const list = join(directory, 'modules');
  const flags = ['--import', join(import.meta.dirname, '../harness/loaded-modules.ts')];
  expect(await spawnCommand([command, '--help'], { LOADED_MODULES: list }, '', flags).ended).toMatchObject({ code: 0 });
  const loaded = await readFile(list, 'utf8');
  expect(loaded).toContain('/commander/');
  expect(loaded).not.toMatch(/\/(knex|bullmq|ioredis|pg)\/|packages\/database/);
});

test('knex prints nothing if the database is unreachable', async () => {
  const env = { DATABASE_URL: `postgres://me:passw0rd@127.0.0.1:${await freePort()}/orders` };
  expect(await runProcess(['accounts', 'list', '--json'], env)).toMatchObject({ code: 1, stdout: '' });
});

test('a full disk is reported in one line, and a failure to write that line is ignored', async () => {
  const directory = makeDirectory();
  for (const [redirection, expected] of [
    ['>', [1, 'Cannot write to standard output (EFBIG).\n']],
    ['2>', [2, '']],
  ] as const) {
    // No file may grow, as on a full disk.
    const words = [
      '-c',
      `ulimit -f 0; exec "$@" ${redirection}${join(directory, 'out')}`,
      'sh',
      process.execPath,
      MAIN,
    ];
    const child = spawn('sh', [...words, redirection === '>' ? '--help' : 'nonsense'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')]);
    expect([code, stderr]).toEqual(expected);
  }
});

test('a reader that closes the pipe early is no error', async () => {
  await cli.knex.raw("insert into accounts (name) select repeat('x', 150) from generate_series(1, 3000)");
  const env = { NODE_ENV: 'production', DATABASE_URL: cli.url };
  const { child, ended } = spawnCommand(['accounts', 'list', '--json'], env);
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

describe('the files that a command names', () => {
  const ROOT = resolve(import.meta.dirname, '../..');

  // Each directory has the same names with another number of orders, so that the output tells which file was read.
  const ORDERS = { caller: 1, other: 2, package: 3 };
  type Directory = keyof typeof ORDERS;
  const directory = makeDirectory();
  const pathOf = (name: Directory) => join(directory, name);

  beforeAll(async () => {
    for (const [name, number] of Object.entries(ORDERS)) {
      const path = pathOf(name as Directory);
      await mkdir(path);
      const rows = Array.from({ length: number }, (_, at) => `${at + 1}\n`);
      await writeFile(join(path, 'till.csv'), `Order\n${rows.join('')}`);
      await writeFile(join(path, 'map.json'), '{"source_order_id":"/Order"}');
    }
    const scripts = {
      orders: `cd ../other && "${process.execPath}" "${MAIN}" send till.csv --map map.json --dry-run --json`,
    };
    await writeFile(
      join(pathOf('package'), 'package.json'),
      JSON.stringify({ scripts: { ...scripts, send: scripts.orders } }),
    );
  });

  function ordersRead(cwd: Directory, command: string, args: string[], env = {}): Promise<number> {
    const options = { cwd: pathOf(cwd), env: { ...baseEnvironment(), ...env } };
    return new Promise((done, fail) =>
      execFile(command, args, options, (error, stdout) => (error ? fail(error) : done(JSON.parse(stdout).read))),
    );
  }
  const SEND = ['send', 'till.csv', '--map', 'map.json', '--dry-run', '--json'];

  test('relative file names mean the directory of the caller of npm run orders', async () => {
    const args = ['--prefix', ROOT, 'run', '--silent', 'orders', '--', ...SEND];
    expect(await ordersRead('caller', 'npm', args)).toBe(ORDERS.caller);
  });

  test.each(['orders', 'send'])(
    'below the script %s of another package they mean the current directory',
    async (script) => {
      const args = ['--prefix', pathOf('package'), 'run', '--silent', script];
      expect(await ordersRead('caller', 'npm', args)).toBe(ORDERS.other);
    },
  );

  test.each([
    ['no npm', {}],
    ['another script of this clone', { npm_lifecycle_event: 'test', npm_package_json: join(ROOT, 'package.json') }],
    [
      'its own script, in another directory',
      { npm_lifecycle_event: 'orders', npm_package_json: join(ROOT, 'package.json') },
    ],
  ])('in a direct call below %s they mean the current directory', async (_, npm) => {
    const env = { INIT_CWD: pathOf('caller'), ...npm };
    expect(await ordersRead('other', process.execPath, [MAIN, ...SEND], env)).toBe(ORDERS.other);
  });
});
