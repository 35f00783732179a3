import { stat } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { untilCountersShared } from '../harness/rate-limits.ts';
import { type Sender, send, startSend, useDirectory, withoutProgress } from '../harness/send.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let intake: RunningIntake;
const files = useDirectory();

beforeAll(async () => {
  stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  intake = await stack.intake();
  await stack.worker();
});

async function newSender(): Promise<Sender & TestAccount> {
  return { ...(await stack.account({ signing: true })), url: intake.api.url };
}
const ndjson = (ids: readonly string[]) => ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');
const idsOf = async ({ id }: TestAccount): Promise<string[]> =>
  stack.database.knex('orders').where({ account_id: id }).orderBy('source_order_id').pluck('source_order_id');

test('the orders of a file are written, and the report counts them', async () => {
  const sender = await newSender();
  const file = await files.write('plain.ndjson', ndjson(['A-1', 'A-2', 'A-3']));
  const { code, stdout, stderr } = await send(sender, [file]);
  expect([code, withoutProgress(stderr)]).toEqual([0, '']);
  expect(stdout).toMatch(/^ {2}3 {2}orders read\n {2}3 {2}written\nin /);
  expect(await idsOf(sender)).toEqual(['A-1', 'A-2', 'A-3']);
});

test('--json prints the report as one JSON value with matching sums', async () => {
  const sender = await newSender();
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
    refused: 3,
    refused_by_code: { malformed_body: 2, validation_failed: 1 },
    statuses: { written: 3, duplicate: 1, dead: 0, failed: 0, pending: 0, unknown: 0, not_followed: 0 },
    failed_file: `${file}.failed.jsonl`,
  });
  const failures = (await files.read('mixed.ndjson.failed.jsonl')).trim().split('\n');
  expect(failures.map((line) => JSON.parse(line)).toSorted((a, b) => a.line - b.line)).toMatchObject([
    { line: 3, source_order_id: null, status: 'refused', code: 'malformed_body' },
    { line: 4, code: 'validation_failed', errors: [{ pointer: '/source_order_id', code: 'not_a_string' }] },
    { line: 6, source_order_id: 'J-1', status: 'duplicate', code: 'duplicate_differs', repeats: 1 },
    { line: 7, source_order_id: null, code: 'malformed_body', detail: 'The order is not UTF-8.' },
  ]);
  expect(await idsOf(sender)).toEqual(['J-1', 'J-2', 'J-3']);
});

test('failed orders are corrected in the file and sent alone with --only-failed', async () => {
  const sender = await newSender();
  const file = await files.write(
    'fixed.ndjson',
    '{"source_order_id":"M-1"}\n{"source_order_id":2}\n{"source_order_id":"M-3"}\n',
  );
  expect(await send(sender, [file])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('line 2: validation_failed'),
  });
  await files.write('fixed.ndjson', '{"source_order_id":"M-1"}\n{"source_order_id":"2"}\n{"source_order_id":"M-3"}\n');
  const { code, stdout } = await send(sender, [file, '--only-failed', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 1, statuses: { written: 1 }, failed_file: null }]);
  expect(await idsOf(sender)).toEqual(['2', 'M-1', 'M-3']);
  await expect(files.read('fixed.ndjson.failed.jsonl')).rejects.toThrow('ENOENT');
});

test('a second run sends nothing and reports the same', async () => {
  const sender = await newSender();
  const file = await files.write('again.ndjson', ndjson(['R-1', 'R-2']));
  await send(sender, [file]);
  const { code, stdout } = await send(sender, [file, '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 2, sent_before: 2, statuses: { written: 2 } }]);
  const receipts = await stack.database.knex('receipts').where({ account_id: sender.id });
  expect(receipts).toHaveLength(2);
});

test('a second run without the journal replays the receipts of the first run', async () => {
  const sender = await newSender();
  const file = await files.write('replay.ndjson', ndjson(['P-1', 'P-2', 'P-3']));
  await send(sender, [file, '--batch-size', '2']);
  const { code, stdout } = await send(sender, [file, '--batch-size', '2', '--restart', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 3, sent_before: 0, statuses: { written: 3 } }]);
  expect(await stack.database.knex('receipts').where({ account_id: sender.id })).toHaveLength(3);
});

test('a changed file, another service and another account are rejected with advice', async () => {
  const sender = await newSender();
  const file = await files.write('changed.ndjson', ndjson(['C-1', 'C-2', 'C-3']));
  await send(sender, [file, '--batch-size', '2']);
  const other = { ...(await newSender()), url: sender.url };
  expect(await send(other, [file])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/account of this key/),
  });
  expect(await send({ ...sender, url: 'http://127.0.0.1:9' }, [file])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/another service.*--restart/),
  });
  // All but the last service reply.
  const journal = (await files.read('changed.ndjson.orders-send.jsonl')).trimEnd().split('\n');
  await files.write('changed.ndjson.orders-send.jsonl', `${journal.slice(0, -1).join('\n')}\n`);
  // The same length with another order, shorter, and longer.
  for (const content of [ndjson(['C-1', 'C-2', 'C-4']), ndjson(['C-1', 'C-2']), ndjson(['C-1', 'C-2', 'C-3', 'C-4'])]) {
    await files.write('changed.ndjson', content);
    const { code, stdout, stderr } = await send(sender, [file]);
    expect([code, stdout, withoutProgress(stderr)]).toEqual([
      1,
      '',
      expect.stringMatching(/^The input has changed .* --restart .*\n$/),
    ]);
  }
  expect(await idsOf(sender)).toEqual(['C-1', 'C-2', 'C-3']);
  const { code, stdout } = await send(sender, [file, '--restart', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 4, statuses: { written: 1, duplicate: 3 } }]);
});

test('a truncated journal is read up to the last whole line, and the rest is sent again under the same keys', async () => {
  const sender = await newSender();
  const file = await files.write('torn.ndjson', ndjson(['T-1', 'T-2', 'T-3', 'T-4', 'T-5']));
  await send(sender, [file, '--batch-size', '2']);
  const journal = await files.read('torn.ndjson.orders-send.jsonl');
  // A cut at any place simulates a power failure.
  for (const share of [0.2, 0.3, 0.5, 0.7, 0.9, 0.99]) {
    await files.write('torn.ndjson.orders-send.jsonl', journal.slice(0, Math.floor(journal.length * share)));
    const { code, stdout } = await send(sender, [file, '--batch-size', '2', '--json']);
    expect([share, code, JSON.parse(stdout)]).toMatchObject([share, 0, { read: 5, statuses: { written: 5 } }]);
  }
  expect(await stack.database.knex('receipts').where({ account_id: sender.id })).toHaveLength(5);
});

test('only the owner can read the journal, and it contains nothing of an order but its ids', async () => {
  const sender = await newSender();
  const order = { source_order_id: 'secret-1', customer: { name: 'Aisha Private', phone: '+971501234567' } };
  const file = await files.write(
    'private.ndjson',
    `${JSON.stringify(order)}\n{"customer":{"phone":"+971501234567"}}\n`,
  );
  await send(sender, [file]);
  for (const name of ['private.ndjson.orders-send.jsonl', 'private.ndjson.failed.jsonl']) {
    expect((await stat(files.path(name))).mode & 0o777).toBe(0o600);
    expect(await files.read(name)).not.toMatch(/Aisha|5012345|oik_/);
  }
});

test('a second run with the same journal is rejected', async () => {
  const sender = await newSender();
  const first = startSend(
    { ...sender, url: 'http://127.0.0.1:9' },
    ['-', '--format', 'ndjson', '--journal', files.path('one')],
    ndjson(['L-1']),
  );
  await until('the first run has begun', () =>
    files
      .read('one')
      .then((text) => text.includes('"batch"'))
      .catch(() => false),
  );
  const second = await send(sender, ['-', '--format', 'ndjson', '--journal', files.path('one')], ndjson(['L-1']));
  expect(second).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Another orders send is using /m),
  });
  first.kill('SIGINT');
  expect(await first.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/resumes where it stopped/) });
});

test('orders are read from standard input, with and without a journal', async () => {
  const sender = await newSender();
  const bare = await send(sender, ['-', '--format', 'ndjson', '--json'], ndjson(['S-1', 'S-2']));
  expect([bare.code, JSON.parse(bare.stdout)]).toMatchObject([0, { read: 2, statuses: { written: 2 } }]);
  const args = ['-', '--format', 'json', '--journal', files.path('stdin.journal'), '--json'];
  const array = '[{"source_order_id":"S-3"}]';
  expect(await send(sender, args, array)).toMatchObject({ code: 0 });
  expect(JSON.parse((await send(sender, args, array)).stdout)).toMatchObject({ read: 1, sent_before: 1 });
  expect((await send(sender, ['-'], array)).code).toBe(2);
});

test('a JSON array is read element by element, whatever it contains', async () => {
  const sender = await newSender();
  const orders = Array.from({ length: 300 }, (_, at) => ({
    source_order_id: `array ${at} 5" ]}, فاطمة`,
    address: '[{"x":\\"y\\"}]\n',
    items: [{ name: `a,b ${'x'.repeat(at * 7)}` }],
  }));
  const file = await files.write('pretty.json', `\uFEFF${JSON.stringify([1, ...orders, 'text'], null, 2)}\n`);
  const { code, stdout } = await send(sender, [file, '--json', '--batch-size', '100']);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: 302, refused: 2, statuses: { written: 300 } }]);
  expect(new Set(await idsOf(sender))).toEqual(new Set(orders.map((order) => order.source_order_id)));
  const one = await files.write('one.json', JSON.stringify({ source_order_id: 'one' }, null, 2));
  expect(await send(sender, [one])).toMatchObject({ code: 0 });
});

test.each([
  ['ndjson', `{"source_order_id":"marked"}\n`],
  ['json', '[{"source_order_id":"marked"}]'],
  ['csv', 'source_order_id\nmarked\n'],
])('a byte order mark before %s is skipped, also if it arrives byte by byte', async (format, text) => {
  const sender = await newSender();
  const pieces = [...Buffer.from(`\uFEFF${text}`)].map((byte) => Buffer.from([byte]));
  expect(await send(sender, ['-', '--format', format], pieces)).toMatchObject({ code: 0 });
  expect(await idsOf(sender)).toEqual(['marked']);
  // An input shorter than a byte order mark has none.
  const { stdout } = await send(sender, ['-', '--format', 'ndjson', '--json'], [Buffer.from('1')]);
  expect(JSON.parse(stdout)).toMatchObject({ read: 1, refused: 1 });
});

test.each(['utf16.ndjson', 'utf16.json', 'utf16.csv'])('%s in UTF-16 is rejected whole', async (name) => {
  const littleEndian = Buffer.from('\uFEFFsource_order_id\n"U-1"\n', 'utf16le');
  for (const content of [littleEndian, Buffer.from(littleEndian).swap16(), Buffer.from([0xff, 0xfe])]) {
    const file = await files.write(name, content);
    for (const more of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await send({ url: 'http://127.0.0.1:9', key: 'oik_x' }, [file, ...more]);
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        `${file}: it is UTF-16, as PowerShell's > writes it: save it as UTF-8.\n`,
      ]);
    }
  }
});

const MAP = {
  source_order_id: '/Order no.',
  customer: { phone: '/Mobile' },
  items: [{ name: '/Item 1', quantity: '/Qty 1' }, { name: '/Item 2' }],
  total: '/total',
  address: '/address',
};

test('a table with a map may have semicolons, quotes, line breaks, Arabic, empty cells and numeric ids', async () => {
  const sender = await newSender();
  const map = await files.write('map.json', JSON.stringify(MAP));
  const rows = [
    '\uFEFFOrder no.;Mobile;Item 1;Qty 1;Item 2;total;address;Notes',
    '007;0501234567;"Soup; hot";2;;12,50;"Villa 3\n""Marina""";x',
    '',
    '00000000000000000000012;;;;خبز;;دبي مارينا;',
    ';;;;;;;',
    '008;1;2;3;4;5;6;7;8',
    '009;;;;;;;',
  ];
  const file = await files.write('till.csv', rows.join('\r\n'));
  const args = [file, '--map', map, '--ignore-column', 'Notes', '--delimiter', ';', '--json'];
  const { code, stdout } = await send(sender, args);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: 4, refused: 1, statuses: { written: 3 } }]);
  const failure = JSON.parse(await files.read('till.csv.failed.jsonl'));
  expect(failure).toMatchObject({ line: 7, source_order_id: '008', code: 'malformed_body' });
  const orders = await stack.database.knex('orders').where({ account_id: sender.id }).orderBy('source_order_id');
  expect(orders).toMatchObject([
    { source_order_id: '00000000000000000000012', address: 'دبي مارينا', items: [{ name: 'خبز' }] },
    {
      source_order_id: '007',
      customer_phone: '+971501234567',
      address: 'Villa 3\n"Marina"',
      items: [{ name: 'Soup; hot', quantity: 2 }],
      total: '12.50',
    },
    { source_order_id: '009' },
  ]);
});

test('a table whose headings are field names needs no map', async () => {
  const sender = await newSender();
  const file = await files.write(
    'fields.tsv',
    'source_order_id\tcustomer.phone\titems.0.name\nF-1\t0501234567\tSoup\n',
  );
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  const [order] = await stack.database.knex('orders').where({ account_id: sender.id });
  expect(order).toMatchObject({ customer_phone: '+971501234567', items: [{ name: 'Soup' }], warnings: [] });
});

test('a row with a cell that has no heading is rejected', async () => {
  const sender = await newSender();
  const table = 'source_order_id,,total,\nH-1,,1,\nH-2,knock twice,2,\nH-3,,3,,4\n';
  const file = await files.write('bare.csv', table);
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/line 3 \(H-2\): malformed_body: Cell 2 of the row has no/),
  ]);
  expect(stdout).toContain('line 4 (H-3): malformed_body: Cell 5 of the row has no heading above it.');
  expect(await idsOf(sender)).toEqual(['H-1']);
  await files.write('bare.csv', table.replace(',,4', ','));
  expect(await send(sender, [file, '--ignore-column', ''])).toMatchObject({ code: 0 });
  expect(await send(sender, [file, '--ignore-unmapped', '--dry-run'])).toMatchObject({ code: 0 });
});

test.each([
  ['table.csv', `source_order_id,total\n${'"Q\n1",1\n'.repeat(3)}Q-2,"1\nQ-3,2\n`, 'line 8: a quote is opened and'],
  [
    'lines.ndjson',
    `{"source_order_id":"Q-1"}\n{"source_order_id":"${'Q'.repeat(2 ** 25)}"}\n`,
    'line 2 is longer than 16',
  ],
])(
  'the error about a %s that cannot be read to its end names the line where the fault begins',
  async (name, content, complaint) => {
    const file = await files.write(name, content);
    const { code, stderr } = await send({ url: 'http://127.0.0.1:9', key: 'oik_x' }, [file]);
    expect([code, withoutProgress(stderr)]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^\\S+${name}: ${complaint} .*\n$`)),
    ]);
    // Nothing is recorded yet, so the message does not mention resuming.
    expect(stderr).not.toContain('goes on');
  },
);

test.each([
  [
    'a heading that leads nowhere',
    'source_order_id,Foo,Bar\n',
    [],
    /^These headings lead to no field of an order: "Foo", "Bar"; .*--ignore-unmapped/,
  ],
  ['no id', 'total,area\n', [], /^No column leads to source_order_id/],
  ['another delimiter', 'source_order_id;total\n', [], /--delimiter ';'/],
  [
    'two for one field',
    'source_order_id,customer,customer.phone\n',
    [],
    /"customer", "customer.phone" lead to the same field/,
  ],
  ['no table', '', [], /^There is no line of headings/],
  ['a delimiter of two', 'source_order_id\n', ['--delimiter', '||'], /^--delimiter takes one character/],
  ['no such map', 'source_order_id\n', ['--map', '/nonexistent'], /^The file of --map cannot be read/],
])('a table with %s is wrong usage, and nothing is sent', async (_, content, args, line) => {
  const file = await files.write('wrong.csv', content);
  const { code, stdout, stderr } = await send({ url: 'http://127.0.0.1:9', key: 'oik_x' }, [file, ...args]);
  expect([code, stdout, withoutProgress(stderr).trimEnd()]).toEqual([2, '', expect.stringMatching(line)]);
  await expect(files.read('wrong.csv.orders-send.jsonl')).rejects.toThrow('ENOENT');
});

test('orders are sent as signed webhooks, one by one', async () => {
  const sender = await newSender();
  const file = await files.write('hooks.ndjson', `${ndjson(['W-1', 'W-2', 'W-3'])}{"source_order_id":""}\n`);
  const { code, stdout } = await send(sender, [file, '--webhook', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { read: 4, refused_by_code: { validation_failed: 1 }, statuses: { written: 3 } },
  ]);
  expect(await stack.database.knex('orders').where({ account_id: sender.id, channel: 'webhook' })).toHaveLength(3);
  expect(await send({ ...sender, secret: null }, [file, '--webhook'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ORDERS_SIGNING_SECRET'),
  });
});

test('--strict makes the service reject orders that need corrections', async () => {
  const sender = await newSender();
  const file = await files.write(
    'strict.ndjson',
    '{"source_order_id":"X-1","emirate":"Sharjha"}\n{"source_order_id":"X-2"}\n',
  );
  const { stdout } = await send(sender, [file, '--strict', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ refused: 1, statuses: { written: 1 }, failures: [{ line: 1 }] });
});

test('--dry-run shows the outcome of each order, sends nothing and needs no service', async () => {
  const file = await files.write(
    'dry.ndjson',
    '{"source_order_id":"D-1","emirate":"Sharjha"}\n{"source_order_id":"D-2"}\n{"source_order_id":3}\n{\n',
  );
  const nobody = { url: '', key: '' };
  const { code, stdout } = await send(nobody, [file, '--dry-run', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      read: 4,
      refused: 2,
      with_warnings: 1,
      refused_by_code: {
        validation_failed: { first_line: 3, pointer: '/source_order_id' },
        malformed_body: { first_line: 4 },
      },
      warnings_by_code: { emirate_corrected: { orders: 1, first_line: 1, pointer: '/emirate' } },
    },
  ]);
  expect((await send(nobody, [file, '--dry-run'])).stdout).toContain('1 as it is, 1 with warnings, 2 would be refused');
});

const TERMINAL = { isTTY: true, columns: 100 };

test('all requests obey a rate limit, and the progress bar on the terminal names it', async () => {
  const [limited, beside] = [await stack.intake({ RATE_LIMIT: '6/1s' }), await stack.intake()];
  await untilCountersShared(stack, [limited, beside]);
  const sender = { ...(await newSender()), url: limited.api.url };
  const ids = Array.from({ length: 20 }, (_, at) => `limited-${at}`);
  const file = await files.write('limited.ndjson', ndjson(ids));
  const { code, stdout, stderr } = await send(sender, [file, '--batch-size', '2', '--json'], '', TERMINAL);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 20, statuses: { written: 20 } }]);
  const drawn = stderr.replaceAll('\u001b', '<esc>').split('\r').slice(1);
  for (const line of drawn) expect(line).toMatch(/^[^\n]{0,99}<esc>\[K$/);
  expect(drawn.join('\n')).toMatch(/^\[[#-]{24}\] \d+ % \d+ orders, \d+\/s.*0 refused; waits( \d+ s)?: rate limit/m);
  expect(drawn.at(-1)).toBe('<esc>[K');
  // Each request in flight reaches the limit only a few times.
  expect(limited.log.lines.filter((line) => line.status === 429).length).toBeLessThan(30);
  await limited.close();
  await beside.close();
});

test.each([
  ['key', { key: 'oik_wrong' }, '401 invalid_api_key', 'Check ORDERS_API_KEY.'],
  ['secret', { secret: 'oss_wrong' }, '401 invalid_signature', 'Check ORDERS_SIGNING_SECRET.'],
  ['address', { path: '/elsewhere' }, '404 not_found', 'Check ORDERS_URL: it must be the address of the service.'],
])('a wrong %s ends the run at once with the message of the service and advice', async (what, wrong, why, advice) => {
  const { path = '', ...other } = wrong as { path?: string };
  const sender = { ...(await newSender()), ...other, url: `${intake.api.url}${path}` };
  const file = await files.write(`wrong-${what}.ndjson`, ndjson(['N-1']));
  const { code, stdout, stderr } = await send(sender, what === 'secret' ? [file, '--webhook'] : [file]);
  expect([code, stdout]).toEqual([1, '']);
  const [, reason, rest] = /^The service rejects all requests \((.*?)\): (.*)\n$/.exec(withoutProgress(stderr)) ?? [];
  expect([reason, rest]).toEqual([why, expect.stringContaining(`. ${advice} The same command resumes `)]);
});

test('the run gives up on a service that never replies, and says how to resume', async () => {
  const file = await files.write('nobody.ndjson', ndjson(['G-1']));
  const nobody = { url: `http://127.0.0.1:${await freePort()}`, key: 'oik_x' };
  const { code, stderr } = await send(nobody, [file, '--give-up-after', '2s']);
  const lines = stderr.trimEnd().split('\n');
  expect([code, lines.at(-1)]).toEqual([
    1,
    expect.stringMatching(
      /^No request has succeeded for \d+ s: no connection \(ECONNREFUSED\)\. The same command resumes /,
    ),
  ]);
  // Without a terminal, progress is printed as occasional whole lines.
  for (const line of lines.slice(0, -1))
    expect(line).toMatch(/^0 % 0 orders, 0\/s, 0 refused(; waits( \d+ s)?: no connection \(ECONNREFUSED\))?$/);
  expect(lines.length).toBeGreaterThan(1);
});
