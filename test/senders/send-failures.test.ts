import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { link, mkdir, rm, symlink } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../harness/directory.ts';
import { MAIN } from '../harness/run-command.ts';
import { ordersOf, send, useSenderService, withoutProgress } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();

/** One order a line, from pairs of an id and a customer name. */
const named = (...orders: [id: string, name: string][]) =>
  orders.map(([id, name]) => `${JSON.stringify({ source_order_id: id, customer: { name } })}\n`).join('');
const LEFT =
  'Some orders differ from what the service has, have the id of another one, or have rows that contradict each other.\n';

test('the file of failures has exactly the failed orders as they were sent, and is corrected and sent in turn', async () => {
  await send(sender, [await files.write('earlier.ndjson', named(['M-1', 'Aisha']))]);
  const [differs, rejected, broken, repeated] = [
    '{"source_order_id":"M-1","customer":{"name":"Omar"}}\n',
    '{"source_order_id": 2, "emirate":"دبي"}\n',
    '{"source_order_id":"M-3"\n',
    '{"source_order_id":"M-4"}\r\n',
  ];
  const good = ordersOf(['M-4', 'M-5']);
  const undecodable = Buffer.from('{"source_order_id":"M-\xe9"}\n', 'latin1');
  const content = Buffer.concat([Buffer.from(differs + good + rejected + broken), undecodable, Buffer.from(repeated)]);
  const file = await files.write('fixed.ndjson', content);
  const first = await send(sender, [file]);
  expect([first.code, withoutProgress(first.stderr)]).toEqual([1, 'Not all orders are written.\n']);
  expect(first.stdout).toContain(
    '\n5 orders failed: 1 × duplicate_differs, 1 × validation_failed, 2 × malformed_body, 1 × repeated_id\n',
  );
  expect(first.stdout).toContain(
    `\nAll but 1 that must be corrected in the input, to correct and send: ${file}.failed.ndjson\n`,
  );
  expect(await files.read('fixed.ndjson.failed.ndjson')).toBe(differs + rejected + broken + repeated);
  expect(statSync(`${file}.failed.ndjson`).mode & 0o777).toBe(0o600);

  // One of them is corrected, one is left wrong, one is the order that the service has, and one is removed.
  await files.write('fixed.ndjson.failed.ndjson', named(['M-7', 'Omar']) + broken + ordersOf(['M-4']));
  const second = await send(sender, [`${file}.failed.ndjson`, '--json']);
  expect([second.code, JSON.parse(second.stdout)]).toMatchObject([
    1,
    { read: 3, statuses: { written: 1, duplicate: 1 }, failed_file: `${file}.failed-2.ndjson` },
  ]);
  expect(await files.read('fixed.ndjson.failed-2.ndjson')).toBe(broken);
  await files.write('fixed.ndjson.failed-2.ndjson', ordersOf(['M-3']));
  const third = await send(sender, [`${file}.failed-2.ndjson`]);
  expect([third.code, third.stdout]).toEqual([0, expect.not.stringContaining('.ndjson')]);
  expect(await service.idsOf(sender)).toEqual(['M-1', 'M-3', 'M-4', 'M-5', 'M-7']);
  const left = readdirSync(files.path('')).filter((name) => name.startsWith('fixed'));
  expect(left).toEqual(['fixed.ndjson', 'fixed.ndjson.failed-2.ndjson', 'fixed.ndjson.failed.ndjson']);
  expect(readdirSync(files.path('')).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('the failures of a table are orders, which need no mapping', async () => {
  const map = await files.write('map.json', '{"source_order_id":"/No","total":"/Sum"}');
  const file = await files.write('till.csv', 'No;Sum\nT-1;5\n;7\nT-3;9;stray\n');
  const args = ['--map', map, '--delimiter', ';'];
  expect(await send(sender, [file, ...args])).toMatchObject({ code: 1 });
  expect(await files.read('till.csv.failed.ndjson')).toBe('{"total":"7"}\n');
  expect(await send(sender, [`${file}.failed.ndjson`, '--map', map])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('leave out --map'),
  });
  await files.write('till.csv.failed.ndjson', '{"source_order_id":"T-2","total":"7"}\n');
  expect(await send(sender, [`${file}.failed.ndjson`])).toMatchObject({ code: 0 });
  expect(await service.idsOf(sender)).toEqual(['T-1', 'T-2']);
});

test('the next run of the same command replaces the file, and removes it once nothing fails', async () => {
  const file = await files.write('again.ndjson', ordersOf(['N-1', 2, 3]));
  await send(sender, [file]);
  expect(await files.read('again.ndjson.failed.ndjson')).toBe(ordersOf([2, 3]));
  await files.write('again.ndjson', ordersOf(['N-1', 'N-2', 3]));
  await send(sender, [file]);
  expect(await files.read('again.ndjson.failed.ndjson')).toBe(ordersOf([3]));
  await files.write('again.ndjson', ordersOf(['N-1', 'N-2', 'N-3']));
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  expect(existsSync(`${file}.failed.ndjson`)).toBe(false);
  expect(await service.idsOf(sender)).toEqual(['N-1', 'N-2', 'N-3']);
});

test.each([[[]], [['--webhook']]])('a dead order gets a new receipt only by the file of failures %j', async (words) => {
  // All of the input is dead, so the file of failures has the same orders at the same positions.
  const file = await files.write(`dead${words.length}.ndjson`, ordersOf(['Z-1']));
  const codeOf = async (end: string) => (await send(sender, [`${file}${end}`, ...words])).code;
  const kill = async () => {
    await service.ordersOf(sender).delete();
    await service.keysOf(sender).delete();
    await service.receiptsOf(sender).update({ state: 'dead', order_id: null, error_code: 'attempts_exhausted' });
  };
  expect(await codeOf('')).toBe(0);
  await kill();
  const { code, stdout } = await send(sender, [file, '--json', ...words]);
  const failures = [{ position: 1, source_order_id: 'Z-1', status: 'dead', code: 'attempts_exhausted' }];
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { sent_before: 1, statuses: { dead: 1 }, failures }]);
  expect(await service.receiptsOf(sender)).toHaveLength(1);
  expect(await codeOf('.failed.ndjson')).toBe(0);
  await kill();
  expect(await codeOf('.failed.ndjson')).toBe(1);
  expect(await codeOf('.failed-2.ndjson')).toBe(0);
  expect(await service.receiptsOf(sender).orderBy('received_at').pluck('state')).toEqual(['dead', 'dead', 'written']);
});

test.each([[[]], [['--webhook', '--concurrency', '1']]])(
  'the second of two rows with one id is reported with its line and id and fails the run %j',
  async (words) => {
    const name = `customers-${words.length}.ndjson`;
    const file = await files.write(name, named(['C-1', 'Aisha'], ['C-2', 'Omar'], ['C-1', 'Fatima']));
    const { code, stdout, stderr } = await send(sender, [file, '--json', ...words]);
    expect([code, withoutProgress(stderr)]).toEqual([1, LEFT]);
    expect(JSON.parse(stdout)).toMatchObject({
      repeated: 1,
      statuses: { written: 2, duplicate: 1 },
      failed: 1,
      failed_by_code: { duplicate_differs: 1 },
      failures: [
        { position: 3, line: 3, source_order_id: 'C-1', status: 'differs', changed: ['/customer/name'], repeats: 1 },
      ],
    });
    expect(stdout).not.toMatch(/Aisha|Fatima/);
    const again = await send(sender, [file, ...words]);
    expect([again.code, again.stdout]).toEqual([
      1,
      expect.stringMatching(
        /order 3, line 3 \(C-1\): duplicate_differs: .* differ at \/customer\/name\. It has the id of order 1\.$/m,
      ),
    ]);
    expect(await service.receiptsOf(sender)).toHaveLength(3);
  },
);

test('a corrected row in a file that is sent again is reported with its line and id', async () => {
  const orders: [string, string][] = Array.from({ length: 30 }, (_, at) => [`R-${at + 1}`, 'Aisha']);
  const file = await files.write('corrected.ndjson', named(...orders));
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  await files.write('corrected.ndjson', named(...orders.with(16, ['R-17', 'Fatima'])));
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /\n {2}29 {2}sent before, with the same content \(duplicate\)\n {3}1 {2}sent before, with other content \(duplicate\)\n/,
    ),
  ]);
  expect(stdout).toContain('\n  order 17, line 17 (R-17): duplicate_differs');
  expect(await files.read('corrected.ndjson.failed.ndjson')).toBe(named(['R-17', 'Fatima']));
  // The original row sent again has no differences.
  await files.write('corrected.ndjson', named(...orders));
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
});

test.each(['--wait=5m', '--no-wait'])('a repeated id with the same content fails the run with %s', async (wait) => {
  const file = await files.write(`same${wait}.ndjson`, `\n${ordersOf(['S-1', 'S-1', 'S-2', 'S-1'])}`);
  const { code, stdout, stderr } = await send(sender, [file, '--json', wait]);
  expect([code, withoutProgress(stderr)]).toEqual([1, LEFT]);
  const failures = [2, 4].map((position) => ({ position, line: position + 1, code: 'repeated_id', repeats: 1 }));
  expect(JSON.parse(stdout)).toMatchObject({ repeated: 2, rejected: 0, failed: 2, failures });
  expect(await files.read(`same${wait}.ndjson.failed.ndjson`)).toBe(ordersOf(['S-1', 'S-1']));
});

test('the report counts all failures by code and shows the first, and --json lists all', async () => {
  const file = await files.write('many.ndjson', `${'{}\n'.repeat(1015)}${ordersOf(Array(9).fill('Y-1'))}`);
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([1, expect.stringContaining('\n1,023 orders failed: 1,015 × validation_failed, 8 ×')]);
  expect(stdout.match(/^ {2}order \d+, line/gm)).toHaveLength(20);
  expect(stdout).toContain(`\n  and 1,003 more; --json lists all\nAll of them, to correct and send: ${file}.failed.`);
  const report = JSON.parse((await send(sender, [file, '--json'])).stdout);
  expect([report.failed, report.failures.length, report.failures.at(-1).position]).toEqual([1023, 1023, 1024]);
});

test('a rejected order with a repeated id is reported as both', async () => {
  const file = await files.write('both.ndjson', `${ordersOf(['B-1'])}{"source_order_id":"B-1","emirate":"Sharjha"}\n`);
  const { code, stdout } = await send(sender, [file, '--strict', '--json']);
  expect([code, JSON.parse(stdout).failures]).toMatchObject([1, [{ line: 2, status: 'rejected', repeats: 1 }]]);
});

test.each([
  ['FILE itself', 'in.failed.ndjson', 'two files'],
  ['a link to FILE', 'link.failed.ndjson', 'two files'],
  ['another name of FILE', 'hard.failed.ndjson', 'two files'],
  ['the file of --map', 'map.failed.ndjson', 'two files'],
  ['a name that is not that of a file of failures', 'notes.ndjson', 'ends in .failed.ndjson'],
  ['a directory', 'directory.failed.ndjson', 'not a regular file'],
])('--failed that is %s is wrong usage, and nothing is sent or changed', async (_, name, complaint) => {
  const contents = {
    'in.failed.ndjson': 'source_order_id\nO-1\n',
    'map.failed.ndjson': '{"source_order_id":"/source_order_id"}\n',
    'notes.ndjson': ordersOf(['X-1']),
  };
  await Promise.all(Object.entries(contents).map(([one, content]) => files.write(one, content)));
  await Promise.all(['link', 'hard'].map((one) => rm(files.path(`${one}.failed.ndjson`), { force: true })));
  await symlink(files.path('in.failed.ndjson'), files.path('link.failed.ndjson'));
  await link(files.path('in.failed.ndjson'), files.path('hard.failed.ndjson'));
  await mkdir(files.path('directory.failed.ndjson'), { recursive: true });
  // Under another name, as a file of failures needs no --map.
  await rm(files.path('in.csv'), { force: true });
  await symlink(files.path('in.failed.ndjson'), files.path('in.csv'));
  const args = ['--map', files.path('map.failed.ndjson'), '--failed', files.path(name)];
  const { code, stdout, stderr } = await send(sender, [files.path('in.csv'), ...args]);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(complaint)]);
  for (const [one, content] of Object.entries(contents)) expect(await files.read(one)).toBe(content);
  expect(await service.receiptsOf(sender)).toEqual([]);
});

test('a full disk is reported, and the file of failures stays as it was', async () => {
  const before = ordersOf([1]);
  const file = await files.write('full.ndjson', ordersOf(['F-1', 'F'.repeat(4000)]));
  await files.write('full.ndjson.failed.ndjson', before);
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    ORDERS_URL: sender.url,
    ORDERS_API_KEY: sender.key,
  };
  // A file size limit of one or two kilobytes cuts writes short like a full disk.
  const words = ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, MAIN, 'send', file];
  const child = spawn('sh', words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([code, withoutProgress(stderr)]).toEqual([
    1,
    expect.stringMatching(/^A temporary file in \S+ cannot be written \(EFBIG\)\. The same command then sends /),
  ]);
  expect(await files.read('full.ndjson.failed.ndjson')).toBe(before);
  expect(existsSync(`${file}.failed.ndjson.new`)).toBe(false);
});
