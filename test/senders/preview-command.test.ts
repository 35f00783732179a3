import { expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { useDirectory } from '../harness/directory.ts';
import { runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const files = useDirectory();

const { knex, api, account } = useStack({ intake: { BASE_PATH: '/api' }, worker: true, account: true });

const settings = () => ({ NODE_ENV: 'production', ORDERS_URL: api.url, ORDERS_API_KEY: account.key });

/** Runs `orders preview` as the account. `env` is added to its settings. */
const preview = (args: string[], { input = '', env = {} }: { input?: string; env?: object } = {}) =>
  runCommand(['preview', ...args], { ...settings(), ...env }, { input: [Buffer.from(input)] });

const UNTIDY = { source_order_id: 'P-1', customer: { phone: '050 123 4567' }, emirate: 'Sharjha', items: '2 soups' };

test('an order of a file is printed as it is read, with its warnings, and nothing is stored', async () => {
  const file = await files.write('order.json', `\ufeff${JSON.stringify(UNTIDY, null, 2)}\n`);
  const { code, stdout, stderr } = await preview([file]);
  expect([code, stderr]).toEqual([0, '']);
  for (const line of [
    /^source order +P-1$/m,
    /^phone +\+971501234567$/m,
    /^emirate +Sharjah \(AE-SH\)$/m,
    /^address +-$/m,
    /^items +\? × 2 soups$/m,
    /^warnings +\/emirate emirate_corrected: [\s\S]*\n +\/items item_as_text: /m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).not.toMatch(/^(duplicate|cancelled) /m);
  expect(await knex('receipts').where({ account_id: account.id })).toEqual([]);
});

test('it says if the order exists, or would be cancelled on arrival', async () => {
  const { body } = await api.order(account, { source_order_id: 'P-2' }, { Prefer: 'wait=30' });
  const known = await preview(['-'], { input: '{"source_order_id":"P-2"}' });
  expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(`\nduplicate +of order ${body.order_id}\n$`) });
  await runCommand(['cancel', 'P-3'], settings());
  const held = await preview(['-'], { input: '{"source_order_id":"P-3"}' });
  expect(held).toMatchObject({ code: 0, stdout: expect.stringMatching(/\ncancelled +on arrival: .*\n$/) });
});

test('--json prints the reply of the service', async () => {
  const { code, stdout } = await preview(['-', '--json'], { input: JSON.stringify(UNTIDY) });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    normalized: { source_order_id: 'P-1', emirate_code: 'AE-SH' },
    warnings: [{ pointer: '/emirate' }, { pointer: '/items' }],
    duplicate_of: null,
    cancellation_held: false,
  });
});

test.each([
  ['no id', '{"emirate":"Dubai"}', '422 validation_failed', /^\/source_order_id required: /],
  ['no JSON', '{', '400 malformed_body', /^The body is not /],
  ['a list', '[{"source_order_id":"L"}]', '400 malformed_body', /not one JSON object/],
  ['nothing', '', '400 malformed_body', /./],
])('%s would be rejected: exit code 1, with the reasons', async (_, input, problem, reason) => {
  const stderr = `The order would be rejected (${problem}).\n`;
  expect(await preview(['-'], { input })).toEqual({ code: 1, stdout: expect.stringMatching(reason), stderr });
  const json = await preview(['-', '--json'], { input });
  expect([json.code, json.stderr]).toEqual([1, stderr]);
  const { error } = JSON.parse(json.stdout);
  expect(`${error.status} ${error.code}`).toBe(problem);
});

test.each<[string, string[], object, number, RegExp]>([
  ['no file', [], {}, 2, /^missing required argument 'file'; see: orders preview --help$/],
  ['a missing file', ['/nonexistent/order'], {}, 1, /^\/nonexistent\/order cannot be read \(ENOENT\)\.$/],
  ['no key', ['-'], { ORDERS_API_KEY: undefined }, 2, /^Configuration: set ORDERS_API_KEY/],
  [
    'a wrong key',
    ['-'],
    { ORDERS_API_KEY: `oik_${'x'.repeat(49)}` },
    1,
    /401 invalid_api_key.* Check ORDERS_API_KEY\.$/,
  ],
])('%s is one line that says what is wrong', async (_, args, env, code, line) => {
  const outcome = await preview(args, { env, input: '{"source_order_id":"P"}' });
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr.trimEnd()).toMatch(line);
});

test('a service that is down is retried until --give-up-after', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await preview(['-', '--give-up-after', '1s', '--url', url], { input: '{}' });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/No request has succeeded for \d s: no connection/)]);
});
