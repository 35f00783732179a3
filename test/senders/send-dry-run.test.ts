import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { send, useDirectory } from '../harness/send.ts';

const files = useDirectory();
const NOBODY = { url: '', key: '' };
const dryRun = (file: string, ...args: string[]) => send(NOBODY, [file, '--dry-run', ...args]);
const listed = async (name: string) =>
  (await files.read(name))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const ndjson = (ids: readonly unknown[]) => ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');

test('each refused order is shown with its line and pointer, and is in a file that the output names', async () => {
  const file = await files.write('few.ndjson', `${ndjson(['D-1', 2])}{\n${ndjson(['D-1', ''])}`);
  const { code, stdout, stderr } = await dryRun(file);
  expect([code, stderr]).toEqual([1, '3 of 5 would be refused.\n']);
  expect(stdout).toMatch(/^5 orders read; nothing was sent\n {2}2 as they are, 0 with warnings, 3 would be refused\n/);
  expect(stdout).toMatch(/\nRefused: 2 × validation_failed, 1 × malformed_body\n/);
  expect(stdout).toMatch(/\n {2}order 2, line 2: validation_failed at \/source_order_id: /);
  expect(stdout).toMatch(/\n {2}order 3, line 3: malformed_body: /);
  expect(stdout).toMatch(/\n {2}order 5, line 5 \(\): validation_failed at \/source_order_id: /);
  expect(stdout).toContain(`\n4 orders to correct, with reasons: ${file}.dry-run.jsonl\n`);
  expect(await listed('few.ndjson.dry-run.jsonl')).toMatchObject([
    { place: 2, line: 2, status: 'refused', code: 'validation_failed', errors: [{ pointer: '/source_order_id' }] },
    { place: 3, line: 3, status: 'refused', code: 'malformed_body' },
    { place: 4, line: 4, source_order_id: 'D-1', status: 'duplicate', code: 'repeated_id', repeats: 1 },
    { place: 5, line: 5, code: 'validation_failed' },
  ]);
  expect((await stat(`${file}.dry-run.jsonl`)).mode & 0o777).toBe(0o600);
});

test('many refused orders are shown up to a limit with the number of the others, and the file has all of them', async () => {
  const file = await files.write('many.ndjson', ndjson(Array.from({ length: 1030 }, (_, at) => at)));
  const { stdout } = await dryRun(file);
  expect(stdout.match(/^ {2}order \d+, line/gm)).toHaveLength(20);
  expect(stdout).toContain('\n  and 1,010 more\n');
  expect(await listed('many.ndjson.dry-run.jsonl')).toHaveLength(1030);
  const { refused, listed: count, failures, failed_file } = JSON.parse((await dryRun(file, '--json')).stdout);
  expect([refused, count, failures.length, failed_file]).toEqual([1030, 1030, 20, `${file}.dry-run.jsonl`]);
  const { stdout: fromStdin } = await send(
    NOBODY,
    ['-', '--format', 'ndjson', '--dry-run'],
    await files.read('many.ndjson'),
  );
  expect(fromStdin).toContain('and 1,010 more; --failed names a file for all of them\n');
});

test('a dry run of corrected orders removes its file', async () => {
  const file = await files.write('corrected.ndjson', ndjson([1]));
  await dryRun(file);
  await files.write('corrected.ndjson', ndjson(['1']));
  expect(await dryRun(file)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('.jsonl') });
  expect(existsSync(`${file}.dry-run.jsonl`)).toBe(false);
});

test('the failures of the last real run stay as they are, and a file that is something else too', async () => {
  const failure = { place: 1, of: 1, line: 1, receipt_id: null, status: 'dead', code: 'x', detail: '' };
  const own = `${JSON.stringify(failure)}\n`;
  await files.write('kept.ndjson.failed.jsonl', own);
  await files.write('notes.dry-run.jsonl', 'milk\n');
  const file = await files.write('kept.ndjson', ndjson([1]));
  expect((await dryRun(file, '--failed', `${file}.failed.jsonl`)).stdout).toContain('.failed.jsonl.dry-run.jsonl');
  expect(await dryRun(file, '--failed', files.path('notes'))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/notes\.dry-run\.jsonl is not a file of failures .* was not changed/),
  });
  expect(await files.read('kept.ndjson.failed.jsonl')).toBe(own);
  expect(await files.read('notes.dry-run.jsonl')).toBe('milk\n');
});

test('with --strict an order that needs corrections is listed with its errors', async () => {
  const file = await files.write('strict.ndjson', '{"source_order_id":"S-1","emirate":"Sharjha","total":"x"}\n');
  const { stdout } = await dryRun(file, '--strict');
  expect(stdout).toMatch(/\n {2}order 1, line 1 \(S-1\): validation_failed at \/emirate: .*\. And 1 more error\.\n/);
  expect(await listed('strict.ndjson.dry-run.jsonl')).toMatchObject([
    { errors: [{ pointer: '/emirate' }, { pointer: '/total' }] },
  ]);
});

test('the file of a dry run is no list for --only-failed', async () => {
  const file = await files.write('list.ndjson', ndjson([1]));
  await dryRun(file);
  const args = [file, '--only-failed', '--failed', `${file}.dry-run.jsonl`];
  expect(await send({ url: 'http://127.0.0.1:9', key: 'oik_x' }, args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('without --dry-run'),
  });
});
