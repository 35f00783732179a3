import { expect, test } from '@jest/globals';
import { send, useDirectory } from '../harness/send.ts';

const files = useDirectory();
const NOBODY = { url: '', key: '' };
const dryRun = async (file: string, ...args: string[]) => {
  const { code, stdout, stderr } = await send(NOBODY, [file, '--dry-run', '--json', ...args]);
  return { code, stderr, ...JSON.parse(stdout || '{}') };
};

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
  // The line counts, so that a position is that in the file.
  expect(await dryRun(file)).toMatchObject({ read: 2, refused: 1, failures: [{ place: 2, line: 4 }] });
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
  const advice = 'it is a spreadsheet (such as .xlsx) or an archive, not text: save the table as "CSV UTF-8", and send';
  expect(await dryRun(file)).toMatchObject({ code: 1, stderr: `${file}: ${advice} that file.\n` });
});

test.each(['till.xlsx', 'till.XLS', 'till.ods'])('the name %s is that of a spreadsheet', async (name) => {
  const file = await files.write(name, ZIP);
  const stderr = 'The file is a spreadsheet: save the table as "CSV UTF-8", and send that file.\n';
  expect(await dryRun(file)).toMatchObject({ code: 2, stderr });
});

test('a heading that matches no field is reported with the field that it probably means', async () => {
  const file = await files.write('suggested.csv', 'Order ID,Phone,Customer name,City,Foo\n1,2,3,4,5\n');
  expect((await dryRun(file)).stderr).toContain(
    '"Order ID" (did you mean source_order_id?), "Phone" (did you mean customer.phone?), ' +
      '"Customer name" (did you mean customer.name?), "City" (did you mean emirate?), "Foo"; map them with --map',
  );
});
