import { mkdir, readdir } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { closeBarrier, whoWait } from '../harness/barriers.ts';
import { useDirectory } from '../harness/directory.ts';
import { untilCountersShared } from '../harness/rate-limits.ts';
import { ordersOf, send, startSend, useSenderService, withoutProgress } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();

test('the orders of a file are written, and the report counts them', async () => {
  const file = await files.write('plain.ndjson', ordersOf(['A-1', 'A-2', 'A-3']));
  const { code, stdout, stderr } = await send(sender, [file]);
  expect([code, withoutProgress(stderr)]).toEqual([0, '']);
  expect(stdout).toMatch(/^ {2}3 {2}orders read\n {2}3 {2}written\nin /);
  expect(await service.idsOf(sender)).toEqual(['A-1', 'A-2', 'A-3']);
});

test('--json prints the report as one JSON value with matching sums', async () => {
  const lines = [
    '{"source_order_id":"J-1","emirate":"Dubai"}',
    '',
    'no JSON',
    '{"source_order_id":12}',
    '{"source_order_id":"J-2"}',
    '{"source_order_id":"J-1","emirate":"Sharjah"}',
    Buffer.from('{"source_order_id":"J-\xe9"}', 'latin1'),
    '{"source_order_id":"J-3"}',
  ];
  const content = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const file = await files.write('mixed.ndjson', content);
  // In one request, so that the first J-1 of the file is the order and the second its duplicate.
  const { code, stdout, stderr } = await send(sender, [file, '--json']);
  expect([code, withoutProgress(stderr)]).toEqual([1, 'Not all orders are written.\n']);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    read: 7,
    rejected: 3,
    statuses: { written: 3, duplicate: 1, dead: 0, failed: 0, pending: 0, unknown: 0, not_followed: 0 },
    failed: 4,
    failed_by_code: { malformed_body: 2, validation_failed: 1, duplicate_differs: 1 },
    failed_file: `${file}.failed.ndjson`,
    failures: [
      { line: 3, source_order_id: null, status: 'rejected', code: 'malformed_body' },
      { line: 4, code: 'validation_failed', errors: [{ pointer: '/source_order_id', code: 'not_a_string' }] },
      { line: 6, source_order_id: 'J-1', status: 'differs', code: 'duplicate_differs', repeats: 1 },
      { line: 7, source_order_id: null, code: 'malformed_body', detail: 'The order is not UTF-8.' },
    ],
  });
  expect(await service.idsOf(sender)).toEqual(['J-1', 'J-2', 'J-3']);
});

test.each([[[]], [['--webhook']], [['--strict']]])(
  'the same command sent again replays the receipts, and another way of sending does not %j',
  async (way) => {
    const file = await files.write('again.ndjson', ordersOf(['R-1', 'R-2', 'R-3']));
    const report = async (words: string[]) => {
      const { code, stdout } = await send(sender, [file, '--json', ...words]);
      return { code, ...JSON.parse(stdout) };
    };
    const args = ['--batch-size', '2', ...way];
    expect(await report(args)).toMatchObject({ code: 0, sent_before: 0, statuses: { written: 3 } });
    expect(await report(args)).toMatchObject({ code: 0, sent_before: 3, statuses: { written: 3 } });
    expect((await send(sender, [file, ...args])).stdout).toMatch(/^ {2}3 {2}orders read, 3 of them sent before\n/);
    expect(await service.receiptsOf(sender)).toHaveLength(3);
    expect(await report(['--batch-size', '3'])).toMatchObject({ sent_before: 0, statuses: { duplicate: 3 } });
  },
);

test.each([
  ['SIGKILL', null, ['orders.ndjson']],
  ['SIGTERM', 143, ['-', '--format', 'ndjson']],
  ['SIGINT', 130, ['orders.ndjson', '--webhook']],
] as const)(
  'after %s the same command sends what is missing, and no order is stored twice',
  async (signal, code, words) => {
    const ids = Array.from({ length: 20 }, (_, at) => `K-${at + 10}`);
    await mkdir(files.path(signal));
    await files.write(`${signal}/orders.ndjson`, ordersOf(ids));
    const [name, ...rest] = words;
    const input = name === '-' ? name : files.path(`${signal}/${name}`);
    const args = [input, ...rest, '--json', '--batch-size', '5', '--concurrency', '2'];
    // The first orders are being stored when the command ends, and none after them has arrived.
    const barrier = await closeBarrier(service.stack.database.knex, 'keys taken');
    const first = startSend(sender, args, ordersOf(ids), [], { TMPDIR: files.path(signal) });
    await whoWait(service.stack.database.knex, 1, 'advisory');
    expect(await service.receiptsOf(sender)).toEqual([]);
    first.child.kill(signal);
    const ended = await first.ended;
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    if (code !== null)
      expect(ended.stderr).toContain('\nThe same command then sends what is missing: no order is stored');
    // Nothing of an order is left behind.
    expect(await readdir(files.path(signal))).toEqual(['orders.ndjson']);
    await barrier.release();
    const second = await send(sender, args, ordersOf(ids));
    const report = JSON.parse(second.stdout);
    expect([second.code, report]).toMatchObject([0, { read: 20, statuses: { written: 20 }, failed_file: null }]);
    expect([0, 20]).not.toContain(report.sent_before);
    expect(await service.idsOf(sender)).toEqual(ids);
    expect(await service.receiptsOf(sender)).toHaveLength(20);
  },
);

test('orders are read from standard input, and the failures are in the file of --failed', async () => {
  const args = ['-', '--format', 'ndjson', '--json'];
  const bare = await send(sender, args, ordersOf(['S-1', 2]));
  expect([bare.code, JSON.parse(bare.stdout)]).toMatchObject([1, { read: 2, failed: 1, failed_file: null }]);
  const path = files.path('stdin.failed.ndjson');
  expect(await send(sender, [...args, '--failed', path], ordersOf(['S-1', 2]))).toMatchObject({ code: 1 });
  expect(await files.read('stdin.failed.ndjson')).toBe(ordersOf([2]));
  expect((await send(sender, ['-'], ordersOf(['S-1']))).code).toBe(2);
});

test('orders are sent as signed webhooks, one by one', async () => {
  const file = await files.write('hooks.ndjson', `${ordersOf(['W-1', 'W-2', 'W-3'])}{"source_order_id":""}\n`);
  const { code, stdout } = await send(sender, [file, '--webhook', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { read: 4, failed_by_code: { validation_failed: 1 }, statuses: { written: 3 } },
  ]);
  expect(await service.ordersOf(sender).where({ channel: 'webhook' })).toHaveLength(3);
  expect(await send({ ...sender, secret: null }, [file, '--webhook'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ORDERS_SIGNING_SECRET'),
  });
});

test('--strict makes the service reject orders that need corrections', async () => {
  const file = await files.write(
    'strict.ndjson',
    '{"source_order_id":"X-1","emirate":"Sharjha"}\n{"source_order_id":"X-2"}\n',
  );
  const { stdout } = await send(sender, [file, '--strict', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ rejected: 1, statuses: { written: 1 }, failures: [{ line: 1 }] });
});

const TERMINAL = { isTTY: true, columns: 100 };

test('all requests obey a rate limit, and the progress bar on the terminal names it', async () => {
  const [limited, beside] = [await service.stack.intake({ RATE_LIMIT: '6/1s' }), await service.stack.intake()];
  await untilCountersShared(service.stack, [limited, beside]);
  const ids = Array.from({ length: 20 }, (_, at) => `limited-${at}`);
  const file = await files.write('limited.ndjson', ordersOf(ids));
  const { code, stdout, stderr } = await send(
    { ...sender, url: limited.api.url },
    [file, '--batch-size', '2', '--json'],
    '',
    TERMINAL,
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 20, statuses: { written: 20 } }]);
  const drawn = stderr.replaceAll('\u001b', '<esc>').split('\r').slice(1);
  for (const line of drawn) expect(line).toMatch(/^[^\n]{0,99}<esc>\[K$/);
  expect(drawn.join('\n')).toMatch(/^\[[#-]{24}\] \d+ % \d+ orders, \d+\/s.*0 rejected; waits( \d+ s)?: rate limit/m);
  expect(drawn.at(-1)).toBe('<esc>[K');
  // Each request in flight reaches the limit only a few times.
  expect(limited.log.lines.filter((line) => line.status === 429).length).toBeLessThan(30);
  await limited.close();
  await beside.close();
});

test('an account in another installation ends the run with its address', async () => {
  const moved_to = 'https://orders-2.example.com';
  await service.stack.database.knex('accounts').where({ account_id: sender.id }).update({ moved_to });
  const file = await files.write('moved.ndjson', ordersOf(['X-1']));
  const { code, stderr } = await send(sender, [file]);
  expect([code, withoutProgress(stderr)]).toEqual([
    1,
    expect.stringMatching(/\(421 wrong_installation\): .*\. Set ORDERS_URL to the one at orders-2\.example\.com\. /),
  ]);
});

test.each([
  ['key', { key: 'oik_wrong' }, '401 invalid_api_key', 'Check ORDERS_API_KEY.'],
  ['secret', { secret: 'oss_wrong' }, '401 invalid_signature', 'Check ORDERS_SIGNING_SECRET.'],
  ['address', { path: '/elsewhere' }, '404 not_found', 'Check ORDERS_URL: it must be the address of the service.'],
])('a wrong %s ends the run at once with the message of the service and advice', async (what, wrong, why, advice) => {
  const { path = '', ...other } = wrong as { path?: string };
  const file = await files.write(`wrong-${what}.ndjson`, ordersOf(['N-1']));
  const mistaken = { ...sender, ...other, url: `${sender.url}${path}` };
  const { code, stdout, stderr } = await send(mistaken, what === 'secret' ? [file, '--webhook'] : [file]);
  expect([code, stdout]).toEqual([1, '']);
  const [, reason, rest] = /^The service rejects all requests \((.*?)\): (.*)\n$/.exec(withoutProgress(stderr)) ?? [];
  expect([reason, rest]).toEqual([why, expect.stringContaining(`. ${advice} The same command then sends `)]);
});

test('the run gives up on a service that never replies, and says how to resume', async () => {
  const file = await files.write('nobody.ndjson', ordersOf(['G-1']));
  const nobody = { url: `http://127.0.0.1:${await freePort()}`, key: 'oik_x' };
  const { code, stderr } = await send(nobody, [file, '--give-up-after', '2s']);
  const lines = stderr.trimEnd().split('\n');
  expect([code, lines.at(-1)]).toEqual([
    1,
    expect.stringMatching(
      /^No request has succeeded for \d+ s: no connection \(ECONNREFUSED\)\. The same command then sends /,
    ),
  ]);
  // Without a terminal, progress is printed as occasional whole lines.
  for (const line of lines.slice(0, -1))
    expect(line).toMatch(/^0 % 0 orders, 0\/s, 0 rejected(; waits( \d+ s)?: no connection \(ECONNREFUSED\))?$/);
  expect(lines.length).toBeGreaterThan(1);
});
