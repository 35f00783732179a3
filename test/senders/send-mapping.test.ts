import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { useDirectory } from '../harness/directory.ts';
import { dryRun, ordersOf, send } from '../harness/send.ts';

const files = useDirectory();
const NOBODY = { url: '', key: '' };

/** The result of a dry run of a file with a mapping. */
async function check(name: string, content: string, mapping: unknown, ...more: string[]) {
  const map = await files.write('map.json', JSON.stringify(mapping));
  return dryRun(await files.write(name, content), '--map', map, ...more);
}
/** The line of an error. */
const wrong = async (...args: Parameters<typeof check>) => {
  const { code, stderr } = await check(...args);
  expect(code).toBe(2);
  return stderr.trimEnd();
};
const id = { source_order_id: '/No' };

test('headings may be any, with slashes and tildes, and be joined, constant or alternatives', async () => {
  const mapping = {
    source_order_id: '/Order~1no.',
    customer: { name: { join: ['/First', '/Last'] }, phone: ['/Mobile', '/Phone~0'] },
    emirate: '/المدينة',
    currency: { constant: 'AED' },
    total: '/__proto__',
  };
  const table = 'Order/no.,First,Last,Mobile,Phone~,المدينة,__proto__\nA-1,Aisha,Khan,,0501234567,دبي,49\n';
  expect(await check('any.csv', table, mapping)).toMatchObject({
    code: 0,
    read: 1,
    with_warnings: 0,
    rejected: 0,
  });
  const ids = `${table}A-1,Omar,,,,,\n,Nobody,,,,,\n`;
  expect(await check('any.csv', ids, mapping)).toMatchObject({ read: 3, repeated: 1, rejected: 1 });
});

test('the same mapping reads the objects of NDJSON and JSON, with long numbers exact', async () => {
  const mapping = { source_order_id: '/id', items: { list: '/lines', name: '/title' }, total: '/sum/value' };
  const order = (number: string) => `{"id": ${number}, "lines": [{"title": "Lamp"}], "sum": {"value": "x"}, "more": 1}`;
  const orders = [order('9007199254740993'), order('9007199254740992')];
  for (const [name, text] of [
    ['orders.ndjson', orders.join('\n')],
    ['orders.json', `[${orders}]`],
  ] as const)
    expect(await check(name, text, mapping)).toMatchObject({
      read: 2,
      // As numbers, both ids would be the same.
      repeated: 0,
      warnings_by_code: { total_unreadable: { orders: 2, pointer: '/total' } },
      rejected: 0,
    });
  expect(await check('broken.ndjson', '{"id": 1\n[]\n5\n', mapping)).toMatchObject({ read: 3, rejected: 3 });
});

test('a column that no pointer reads is an error, unless it is left out', async () => {
  const table = 'No,Phone,Foo\n1,2,3\n';
  expect(await wrong('unread.csv', table, id)).toBe(
    'No pointer of the mapping reads these columns: "Phone" (did you mean customer.phone?), "Foo"; add them to the file of --map, or leave out one with --ignore-column, or all with --ignore-unmapped.',
  );
  expect(await wrong('unread.csv', table, id, '--ignore-column', 'Phone')).toMatch(/columns: "Foo";/);
  expect(await wrong('unread.csv', table, id, '--ignore-column', 'Fo')).toBe(
    '--ignore-column names headings that are not there: "Fo".',
  );
  for (const more of [['--ignore-unmapped'], ['--ignore-column', 'Phone', '--ignore-column', 'Foo']])
    expect(await check('unread.csv', table, id, ...more)).toMatchObject({ code: 0, read: 1 });
});

test('a cell without a heading is rejected', async () => {
  const failures = [
    { line: 2, detail: 'Cell 2 of the row has no heading above it.' },
    { line: 3, detail: 'Cell 3 of the row has no heading above it.' },
  ];
  const table = 'No,\n1,x\n2,,x\n3,\n';
  expect(await check('bare.csv', table, id)).toMatchObject({ read: 3, rejected: 2, failures });
  expect(await check('bare.csv', table, id, '--ignore-unmapped')).toMatchObject({ rejected: 1 });
  expect(await check('bare.csv', table, { source_order_id: '/No', area: '/' })).toMatchObject({ rejected: 1 });
});

test.each([
  [
    'that leads to no column',
    { ...id, customer: { phone: '/Mobil' } },
    '--map has pointers that lead to no column: "/Mobil" (did you mean "/Mobile"?).',
  ],
  [
    'with a slash that is not escaped',
    { ...id, area: '/City/Area' },
    '--map has pointers that lead to no column: "/City/Area" (did you mean "/City~1Area"?).',
  ],
  ['whose alternatives are all missing', { ...id, area: ['/Zone', '/Block'] }, '"/Zone", "/Block".'],
  ['that a join needs', { ...id, area: { join: ['/Mobile', '/Zone'] } }, 'no column: "/Zone".'],
  ['with a control character', { ...id, area: '/\u001b[2J' }, '"/\\u001b[2J".'],
])('a pointer %s is quoted and corrected', async (_, mapping, line) => {
  expect(await wrong('pointer.csv', 'No,Mobile,City/Area\n1,2,3\n', mapping)).toContain(line);
});

test('a dry run names the fields that have a value in no order', async () => {
  const mapping = { source_order_id: '/id', customer: { phone: '/tel', name: '/name' }, total: '/sum', area: '/zone' };
  const orders = '{"id":"1","name":"Aisha"}\n{"id":"2","sum":5}\n[]\n';
  expect(await check('empty.ndjson', orders, mapping)).toMatchObject({ empty_fields: ['area', 'customer.phone'] });
  const map = await files.write('map.json', JSON.stringify(mapping));
  const { stdout } = await send(NOBODY, [files.path('empty.ndjson'), '--dry-run', '--map', map]);
  expect(stdout).toContain('  No order has a value for area, customer.phone: check the pointers of --map\n');
  expect(await check('empty.ndjson', '', mapping)).toMatchObject({ read: 0, empty_fields: [] });
});

test('an alternative may lead to no column', async () => {
  const mapping = { source_order_id: ['/Number', '/No'], area: ['/Zone', { constant: 'Marina' }] };
  expect(await check('alternatives.csv', 'No\n1\n', mapping)).toMatchObject({ code: 0, read: 1, rejected: 0 });
});

test.each([
  ['two columns with one heading', 'No,No\n1,2\n', id, 'Two columns have the heading "No", which the mapping reads'],
  ['a list of items', 'No\n1\n', { ...id, items: { list: '/No', name: '/n' } }, '--map: a cell of a table has no list'],
  ['a misspelled field', 'No\n1\n', { ...id, custmer: { phone: '/No' } }, 'Did you mean customer?'],
  ['no source_order_id', 'No\n1\n', { total: '/total' }, '--map: /source_order_id: This is required.'],
])('%s is wrong usage', async (_, table, mapping, line) => {
  expect(await wrong('wrong.csv', table, mapping)).toContain(line);
});

describe('a dry run', () => {
  const files = useDirectory();

  test('a dry run sends nothing, needs no service, writes no file, and shows each order that would fail', async () => {
    const file = await files.write('few.ndjson', `${ordersOf(['D-1', 2])}{\n${ordersOf(['D-1', ''])}`);
    const { code, stdout, stderr } = await send(NOBODY, [file, '--dry-run']);
    expect([code, stderr]).toEqual([1, '3 of 5 would be rejected.\n']);
    expect(stdout).toMatch(
      /^5 orders read; nothing was sent\n {2}2 as they are, 0 with warnings, 3 would be rejected\n/,
    );
    expect(stdout).toContain('\n  1 with the id of an order before it: would end as duplicate\n');
    expect(stdout).toContain('\n4 orders failed: 2 × validation_failed, 1 × malformed_body, 1 × repeated_id\n');
    expect(stdout).toMatch(/\n {2}order 2, line 2: validation_failed at \/source_order_id: /);
    expect(stdout).toMatch(/\n {2}order 3, line 3: malformed_body: /);
    expect(stdout).toMatch(/\n {2}order 4, line 4 \(D-1\): repeated_id: Order 1 has this source_order_id, too/);
    expect(stdout).toMatch(/\n {2}order 5, line 5 \(\): validation_failed at \/source_order_id: /);
    expect(await dryRun(file)).toMatchObject({
      read: 5,
      repeated: 1,
      rejected: 3,
      failed_file: null,
      failures: [
        {
          position: 2,
          line: 2,
          status: 'rejected',
          code: 'validation_failed',
          errors: [{ pointer: '/source_order_id' }],
        },
        { position: 3, line: 3, status: 'rejected', code: 'malformed_body' },
        { position: 4, line: 4, source_order_id: 'D-1', status: 'repeated', code: 'repeated_id', repeats: 1 },
        { position: 5, line: 5, code: 'validation_failed' },
      ],
    });
    expect(readdirSync(files.path(''))).toEqual(['few.ndjson']);
  });

  test('an order with the id of another one fails a dry run without rejections', async () => {
    const file = await files.write('repeated.ndjson', ordersOf(['D-1', 'D-2', 'D-1']));
    expect(await dryRun(file)).toMatchObject({ code: 1, stderr: 'Some orders have the id of another one.\n' });
  });

  test('warnings are counted by code, with the first order of each', async () => {
    const orders = '{"source_order_id":"W-1","emirate":"Sharjha"}\n{"source_order_id":"W-2"}\n';
    const file = await files.write('warnings.ndjson', `${orders}{"source_order_id":"W-3","emirate":"Sharjha"}\n`);
    expect(await dryRun(file)).toMatchObject({
      code: 0,
      with_warnings: 2,
      warnings_by_code: { emirate_corrected: { orders: 2, first_position: 1, first_line: 1, pointer: '/emirate' } },
    });
    const { stdout } = await send(NOBODY, [file, '--dry-run']);
    expect(stdout).toContain('1 as it is, 2 with warnings, 0 would be rejected\n');
    expect(stdout).toMatch(/\nWarnings:\n {2}2 × emirate_corrected, first order 1, line 1 at \/emirate: /);
  });

  test('with --strict an order that needs corrections is listed with its errors', async () => {
    const file = await files.write('strict.ndjson', '{"source_order_id":"S-1","emirate":"Sharjha","total":"x"}\n');
    const { stdout } = await send(NOBODY, [file, '--dry-run', '--strict']);
    expect(stdout).toMatch(/\n {2}order 1, line 1 \(S-1\): validation_failed at \/emirate: .*\. And 1 more error\.\n/);
    const { failures } = await dryRun(file, '--strict');
    expect(failures).toMatchObject([{ errors: [{ pointer: '/emirate' }, { pointer: '/total' }] }]);
  });

  test('an order above the default size limit would be rejected', async () => {
    const large = `{"source_order_id":"1","address":"${'x'.repeat(262_144)}"}\n`;
    const file = await files.write('large.ndjson', `${large}${ordersOf(['2'])}`);
    expect(await dryRun(file)).toMatchObject({
      code: 1,
      failures: [{ position: 1, code: 'payload_too_large', detail: expect.stringMatching(/262,144.*by default/) }],
    });
  });
});
