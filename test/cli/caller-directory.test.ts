import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { makeDirectory } from '../harness/directory.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'apps/cli/src/main.ts');

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
