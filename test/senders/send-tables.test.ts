import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { type CellValue, writeXlsx } from 'hucre';
import { useDirectory } from '../harness/directory.ts';
import { dryRun, send, useSenderService, withoutProgress } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();
const NOBODY = { url: 'http://127.0.0.1:9', key: 'oik_x' };

test('a JSON array is read element by element, whatever it contains', async () => {
  const orders = Array.from({ length: 300 }, (_, at) => ({
    source_order_id: `array ${at} 5" ]}, فاطمة`,
    address: '[{"x":\\"y\\"}]\n',
    items: [{ name: `a,b ${'x'.repeat(at * 7)}` }],
  }));
  const file = await files.write('pretty.json', `\uFEFF${JSON.stringify([1, ...orders, 'text'], null, 2)}\n`);
  const { code, stdout } = await send(sender, [file, '--json', '--batch-size', '100']);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: 302, rejected: 2, statuses: { written: 300 } }]);
  expect(new Set(await service.idsOf(sender))).toEqual(new Set(orders.map((order) => order.source_order_id)));
  const one = await files.write('one.json', JSON.stringify({ source_order_id: 'one' }, null, 2));
  expect(await send(sender, [one])).toMatchObject({ code: 0 });
});

test.each([
  ['ndjson', `{"source_order_id":"marked"}\n`],
  ['json', '[{"source_order_id":"marked"}]'],
  ['csv', 'source_order_id\nmarked\n'],
])('a byte order mark before %s is skipped, also if it arrives byte by byte', async (format, text) => {
  const pieces = [...Buffer.from(`\uFEFF${text}`)].map((byte) => Buffer.from([byte]));
  expect(await send(sender, ['-', '--format', format], pieces)).toMatchObject({ code: 0 });
  expect(await service.idsOf(sender)).toEqual(['marked']);
  // An input shorter than a byte order mark has none.
  const { stdout } = await send(sender, ['-', '--format', 'ndjson', '--json'], [Buffer.from('1')]);
  expect(JSON.parse(stdout)).toMatchObject({ read: 1, rejected: 1 });
});

test.each(['utf16.ndjson', 'utf16.json', 'utf16.csv'])('%s in UTF-16 is rejected whole', async (name) => {
  const littleEndian = Buffer.from('\uFEFFsource_order_id\n"U-1"\n', 'utf16le');
  for (const content of [littleEndian, Buffer.from(littleEndian).swap16(), Buffer.from([0xff, 0xfe])]) {
    const file = await files.write(name, content);
    for (const more of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await send(NOBODY, [file, ...more]);
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
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: 4, rejected: 1, statuses: { written: 3 } }]);
  expect(JSON.parse(stdout).failures).toMatchObject([{ line: 7, source_order_id: '008', code: 'malformed_body' }]);
  const orders = await service.ordersOf(sender);
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
  const file = await files.write(
    'fields.tsv',
    'source_order_id\tcustomer.phone\titems.0.name\nF-1\t0501234567\tSoup\n',
  );
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  const [order] = await service.ordersOf(sender);
  expect(order).toMatchObject({ customer_phone: '+971501234567', items: [{ name: 'Soup' }], warnings: [] });
});

test('a row with a cell that has no heading is rejected', async () => {
  const table = 'source_order_id,,total,\nH-1,,1,\nH-2,knock twice,2,\nH-3,,3,,4\n';
  const file = await files.write('bare.csv', table);
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/line 3 \(H-2\): malformed_body: Cell 2 of the row has no/),
  ]);
  expect(stdout).toContain('line 4 (H-3): malformed_body: Cell 5 of the row has no heading above it.');
  expect(await service.idsOf(sender)).toEqual(['H-1']);
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
    const { code, stderr } = await send(NOBODY, [file]);
    expect([code, withoutProgress(stderr)]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^\\S+${name}: ${complaint} .*\n$`)),
    ]);
    // Nothing was sent yet, so there is nothing to continue.
    expect(stderr).not.toContain('same command');
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
  const { code, stdout, stderr } = await send(NOBODY, [file, ...args]);
  expect([code, stdout, withoutProgress(stderr).trimEnd()]).toEqual([2, '', expect.stringMatching(line)]);
});

test.each([
  ['a comma', 'sep=,\r\n', ','],
  ['a semicolon', 'sep=;\r\n', ';'],
  ['a tab', 'sep=\t\r\n', '\t'],
  ['a bar, in upper case and after a byte order mark', '\uFEFFSEP=|\r\n', '|'],
  ['a semicolon, in quotes', '"sep=;"\r\n', ';'],
])('the first line may name %s as the separator', async (_, first, separator) => {
  const rows = [
    ['source_order_id', 'emirate'],
    ['S-1', 'Dubai'],
    ['', 'Dubai'],
  ].map((row) => row.join(separator));
  const file = await files.write('separated.csv', `${first}${rows.join('\r\n')}\r\n`);
  // The line counts, so that it is the line of the file.
  expect(await dryRun(file)).toMatchObject({ read: 2, rejected: 1, failures: [{ position: 2, line: 4 }] });
});

test('what programs write around a cell so that a spreadsheet keeps it as text is no part of it', async () => {
  const lines = [
    'source_order_id,customer.phone,total,order_number',
    '"=""W-1""","=""0501234567""","=""12.50""",=1+1',
    `W-2,"\t+971557654321",'-5,"=""say """"hi"""""""`,
    "W-3,'+971501234567,\u001f12,'quoted'",
  ];
  const file = await files.write('wrapped.csv', `${lines.join('\r\n')}\r\n`);
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  const stored = (await service.ordersOf(sender)).map((order) => [
    order.source_order_id,
    order.customer_phone,
    order.total,
    order.order_number,
  ]);
  expect(stored).toEqual([
    ['W-1', '+971501234567', '12.50', '=1+1'],
    ['W-2', '+971557654321', null, 'say "hi"'],
    ['W-3', '+971501234567', '12', "'quoted'"],
  ]);
});

test('--delimiter overrules the first line, also if the input arrives byte by byte', async () => {
  const bytes = [...Buffer.from('sep=;\nsource_order_id,emirate\nS-1,Dubai\n')].map((byte) => Buffer.from([byte]));
  const args = ['-', '--format', 'csv', '--dry-run', '--json'];
  expect(JSON.parse((await send(NOBODY, [...args, '--delimiter', ','], bytes)).stdout)).toMatchObject({ read: 1 });
  expect(await send(NOBODY, args, bytes)).toMatchObject({ code: 2 });
});

test.each(['sep=', 'sep=;;', 'separator'])('the first line %j is a line of headings', async (first) => {
  const file = await files.write('headings.csv', `${first}\nx\n`);
  const { code, stderr } = await dryRun(file, '--ignore-unmapped', '--delimiter', '|');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/No column leads to source_order_id|in one column/)]);
});

const ZIP = Buffer.from('PK\x03\x04\x14\x00\x06\x00\x08\x00', 'latin1');
const EXCEL_97 = Buffer.from('d0cf11e0a1b11ae1', 'hex');

test.each([
  ['till.csv', ZIP],
  ['till.csv', EXCEL_97],
  ['till.ndjson', ZIP],
  ['till.json', EXCEL_97],
])('a spreadsheet with the name %s is recognized by its first bytes', async (name, content) => {
  const file = await files.write(name, content);
  const advice =
    'it is a spreadsheet or an archive, not text: give --format xlsx, or save the table as .xlsx or "CSV UTF-8", and send';
  expect(await dryRun(file)).toMatchObject({ code: 1, stderr: `${file}: ${advice} that file.\n` });
});

test.each(['till.XLS', 'till.ods'])('the name %s is that of a spreadsheet of another kind', async (name) => {
  const file = await files.write(name, ZIP);
  const stderr =
    'The file is a spreadsheet of another kind: save the table as .xlsx or "CSV UTF-8", and send that file.\n';
  expect(await dryRun(file)).toMatchObject({ code: 2, stderr });
});

test('a heading that matches no field is reported with the field that it probably means', async () => {
  const file = await files.write('suggested.csv', 'Order ID,Phone,Customer name,City,Foo\n1,2,3,4,5\n');
  expect((await dryRun(file)).stderr).toContain(
    '"Order ID" (did you mean source_order_id?), "Phone" (did you mean customer.phone?), ' +
      '"Customer name" (did you mean customer.name?), "City" (did you mean emirate?), "Foo"; map them with --map',
  );
});

const HEADINGS = ['source_order_id', 'customer.phone', 'items.0.name', 'items.0.quantity', 'total', 'delivery_time'];

test('a workbook is read as a table, and the same one again creates nothing', async () => {
  const rows: CellValue[][] = [
    HEADINGS,
    ['X-1', 971501234567, 'Lamp', 2, 49.5, new Date('2026-01-05T00:00:00Z')],
    [null, null, 'Shade', 1, null, null],
    [],
    [42, '0557654321', 'Bulb', 3, null, null],
  ];
  const cells = new Map([
    ['1,1', { value: 971501234567, style: { numFmt: '0.00E+00' } }],
    ['4,0', { value: 42, style: { numFmt: '00000' } }],
    ['4,4', { value: 12.5, formula: '25/2', formulaResult: 12.5 }],
  ]);
  const merges = [{ startRow: 1, startCol: 0, endRow: 2, endCol: 0 }];
  const hidden = { name: 'Lists', hidden: true, rows: [['Dubai']] };
  const bytes = await writeXlsx({ sheets: [hidden, { name: 'Orders', rows, cells, merges }] });
  const file = await files.write('till.xlsx', Buffer.from(bytes));
  const { code, stdout, stderr } = await send(sender, [file]);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(await service.ordersOf(sender)).toMatchObject([
    { source_order_id: '00042', total: '12.5', items: [{ name: 'Bulb', quantity: 3 }] },
    {
      source_order_id: 'X-1',
      customer_phone: '+971501234567',
      total: '49.5',
      delivery_time: '2026-01-05',
      items: [
        { name: 'Lamp', quantity: 2 },
        { name: 'Shade', quantity: 1 },
      ],
    },
  ]);
  expect(await send(sender, [file, '--sheet', 'Orders'])).toMatchObject({ code: 0 });
  expect(await service.receiptsOf(sender)).toHaveLength(2);
  expect(await dryRun(file, '--sheet', 'Order')).toMatchObject({
    code: 2,
    stderr: 'There is no sheet "Order"; the file has "Lists", "Orders".\n',
  });
});

/** An archive of one entry that states these sizes. */
function archiveOf(content: Buffer, stated: { packed: number; size: number; flags?: number }): Buffer {
  const packed = deflateRawSync(content);
  const name = Buffer.from('xl/workbook.xml');
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(stated.flags ?? 0, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(stated.packed < 0 ? packed.length : stated.packed, 14);
  fields.writeUInt32LE(stated.size, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, Buffer.alloc(14), name]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

const ZEROS = Buffer.alloc(150 * 2 ** 20);

test.each([
  ['that states its size', ZEROS, { packed: -1, size: ZEROS.length }, /more than 100 MiB once unpacked/],
  ['that states no size', ZEROS, { packed: -1, size: 0 }, /more than 100 MiB once unpacked/],
  ['that states its size later', ZEROS, { packed: 0, size: 5, flags: 8 }, /more than 100 MiB once unpacked/],
  ['that states a smaller size', ZEROS, { packed: -1, size: 5 }, /cannot be read as \.xlsx/],
  ['without a workbook', Buffer.from('x'), { packed: -1, size: 1 }, /cannot be read as \.xlsx/],
])('an archive %s ends in an error', async (_, content, stated, complaint) => {
  const file = await files.write('bomb.xlsx', archiveOf(content, stated));
  expect(await dryRun(file)).toMatchObject({ code: 1, stderr: expect.stringMatching(complaint) });
});

test.each([
  ['an older Excel file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /older Excel file, or has a password/],
  ['no archive', Buffer.from('id\n1\n'), /no \.xlsx file, or it is cut off/],
  ['an empty file', Buffer.alloc(0), /no \.xlsx file/],
])('%s with the name of a workbook ends in an error', async (_, content, complaint) => {
  const file = await files.write('wrong.xlsx', content);
  expect(await dryRun(file)).toMatchObject({ code: 1, stderr: expect.stringMatching(complaint) });
});
