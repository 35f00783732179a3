import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { type CellValue, writeXlsx } from 'hucre';
import { useDirectory } from '../harness/directory.ts';
import { dryRun, send, useSenderService } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();

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
