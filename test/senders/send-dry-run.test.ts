import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../harness/directory.ts';
import { dryRun, ordersOf, send } from '../harness/send.ts';

const files = useDirectory();
const NOBODY = { url: '', key: '' };

test('a dry run sends nothing, needs no service, writes no file, and shows each order that would fail', async () => {
  const file = await files.write('few.ndjson', `${ordersOf(['D-1', 2])}{\n${ordersOf(['D-1', ''])}`);
  const { code, stdout, stderr } = await send(NOBODY, [file, '--dry-run']);
  expect([code, stderr]).toEqual([1, '3 of 5 would be rejected.\n']);
  expect(stdout).toMatch(/^5 orders read; nothing was sent\n {2}2 as they are, 0 with warnings, 3 would be rejected\n/);
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
