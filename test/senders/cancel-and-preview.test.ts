import { describe, expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { MAX_REASON } from '@orders/domain/interface-limits.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { startReply } from '../harness/api.ts';
import { useDirectory } from '../harness/directory.ts';
import { dispatch } from '../harness/review-list.ts';
import { envOf, runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const files = useDirectory();

const { knex, api, account } = useStack({ intake: { BASE_PATH: '/api' }, worker: true, account: 'each test' });

type Options = { input?: string | Buffer; env?: object };

/** Runs a command as the account. `env` is added to its settings. */
const runAs = (command: string, args: string[], { input = '', env = {} }: Options) =>
  runCommand(
    [command, ...args],
    { ...envOf({ url: api.url, key: account.key }), ...env },
    { input: [Buffer.from(input)] },
  );
/** Runs `orders cancel`. */
const cancel = (args: string[], options: Options = {}) => runAs('cancel', args, options);

async function write(id: string): Promise<number> {
  const { body } = await api.order(account, { source_order_id: id }, { Prefer: 'wait=30' });
  return body.order_id;
}

/** Confirms an order and lets it be dispatched. */
async function dispatchConfirmed(orderId: number): Promise<void> {
  const { id: accountId } = account;
  await reviewOrders(connectionOf(knex), {
    accountId,
    orderIds: [orderId],
    to: 'confirmed',
    by: 'a reviewer',
    reason: null,
  });
  await dispatch(knex, orderId);
}

const rowOf = (id: string) => knex('orders').where({ source_order_id: id }).first();

test('orders are cancelled by their ids, with a line for each and the reason', async () => {
  const orderId = await write('C-1');
  const { code, stdout, stderr } = await cancel(['C-1', 'C-early', '--reason', 'Sold out']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['SOURCE ORDER', 'ORDER', 'OUTCOME'],
    ['C-1', `${orderId}`, 'cancelled'],
    ['C-early', '-', 'held: has not arrived, will be cancelled when it does'],
    [''],
  ]);
  expect(await rowOf('C-1')).toMatchObject({ review_state: 'cancelled', review_reason: 'Sold out', channel: 'rest' });
  expect((await cancel(['C-1', 'C-early'])).stdout).toBe(stdout);
});

test('an order that may be dispatched is an exit code of 1, and --json prints one value', async () => {
  const [open, seen] = [await write('J-open'), await write('J-seen')];
  await dispatchConfirmed(seen);
  const { code, stdout, stderr } = await cancel(['J-seen', 'J-open', '--json']);
  expect([code, stderr]).toEqual([
    1,
    '1 of 2 may be dispatched already: a person decides. If it is urgent, use the telephone.\n',
  ]);
  expect(JSON.parse(stdout)).toEqual({
    read: 2,
    cancelled: 1,
    requested: 1,
    held: 0,
    archived: 0,
    results: [
      { outcome: 'requested', source_order_id: 'J-seen', order_id: seen },
      { outcome: 'cancelled', source_order_id: 'J-open', order_id: open },
    ],
  });
  expect((await cancel(['J-seen'])).stdout).toMatch(/ {2}requested: may be dispatched already, a person decides\n$/);
});

test('--webhook signs the request', async () => {
  const env = { ORDERS_SIGNING_SECRET: account.secret };
  expect(await cancel(['W-1', '--webhook'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await knex('order_keys').where({ source_order_id: 'W-1' }).first()).toMatchObject({ order_id: null });
  const wrong = await cancel(['W-1', '--webhook'], { env: { ORDERS_SIGNING_SECRET: 'oss_another-secret' } });
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toMatch(
    /^The service rejects all requests \(401 invalid_signature\).*ORDERS_SIGNING_SECRET\.\n$/,
  );
  expect(await cancel(['W-1', '--webhook'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--webhook') });
});

test('thousands of ids of a file go in several requests, with progress on stderr', async () => {
  const ids = Array.from({ length: 2500 }, (_, index) => `F-${index}`);
  const file = await files.write('ids.txt', `\ufeff${ids.join('\r\n')}\r\n\r\n`);
  const { code, stdout, stderr } = await cancel(['F-first', '--file', file, '--json']);
  expect([code, stderr]).toEqual([0, '1,000 of 2,501 orders done.\n2,000 of 2,501 orders done.\n']);
  const { results, ...counts } = JSON.parse(stdout);
  expect(counts).toEqual({ read: 2501, cancelled: 0, requested: 0, held: 2501, archived: 0 });
  expect(results.map(({ source_order_id: id }: { source_order_id: string }) => id)).toEqual(['F-first', ...ids]);
});

test('long reasons make the requests shorter, below the limit of the service', async () => {
  const ids = Array.from({ length: 600 }, (_, index) => `L-${index}`);
  const { code, stderr } = await cancel(['--file', '-', '--reason', '☃'.repeat(MAX_REASON), '--json'], {
    input: ids.join('\n'),
  });
  expect([code, stderr]).toEqual([0, '']);
  const long = await cancel(['--file', '-', '--reason', '☃'.repeat(MAX_REASON), '--json'], {
    input: Array.from({ length: 1000 }, (_, index) => `L-${index}`).join('\n'),
  });
  expect([long.code, long.stderr]).toEqual([0, expect.stringMatching(/^\d{3} of 1,000 orders done\.\n$/)]);
});

test.each<[string, string[], string | Buffer, number, string]>([
  ['no id', [], '', 2, 'Give the source_order_id of an order, or --file with some.'],
  ['an empty file', ['--file', '-'], ' \n', 2, 'Give the source_order_id of an order, or --file with some.'],
  ['a bad id', ['B-1', ' '], '', 2, 'Argument 2: source_order_id must not be white space only.'],
  ['a long reason', ['B-1', '--reason', 'x'.repeat(501)], '', 2, '--reason must be at most 500 characters long.'],
  [
    'a bad line',
    ['B-1', '--file', '-'],
    `B-2\n\n${'x'.repeat(256)}\n`,
    1,
    'standard input: line 3: source_order_id must be at most 255 characters long.',
  ],
  [
    'UTF-16',
    ['--file', '-'],
    Buffer.from('\ufeffB-1', 'utf16le'),
    1,
    'standard input: it is not UTF-8; save it as UTF-8.',
  ],
  ['a missing file', ['--file', '/nonexistent/ids'], '', 1, '/nonexistent/ids cannot be read (ENOENT).'],
])('%s is refused before anything is sent', async (_, args, input, code, line) => {
  expect(await cancel(args, { input })).toEqual({ code, stdout: '', stderr: `${line}\n` });
  for (const id of ['B-1', 'B-2']) expect(await rowOf(id)).toBeUndefined();
});

test.each<[string, object, number, RegExp]>([
  ['no key', { ORDERS_API_KEY: undefined }, 2, /^Configuration: set ORDERS_API_KEY/],
  ['a wrong key', { ORDERS_API_KEY: `oik_${'x'.repeat(49)}` }, 1, /401 invalid_api_key.* Check ORDERS_API_KEY\.$/],
])('%s is one line that says what to set', async (_, env, code, line) => {
  const outcome = await cancel(['K-1'], { env });
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr.trimEnd()).toMatch(line);
  expect(outcome.stderr).not.toMatch(/oik_\w/);
});

test('a service that is down is retried until --give-up-after', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stdout, stderr } = await cancel(['D-1', '--give-up-after', '4s', '--url', url]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^(Waits \d s: no connection \(ECONNREFUSED\)\.\n)+No request has succeeded for \d s: no conn/,
  );
});

test('outcomes before an error are printed, and the error says how many', async () => {
  const result = { outcome: 'held', source_order_id: 'P', order_id: null };
  const reply = { results: Array(1000).fill(result) };
  const service = await startReply(200, reply);
  // The reply has too many results for the second request.
  const { code, stdout, stderr } = await cancel(['--file', '-', '--json', '--url', service.url], {
    input: 'P\n'.repeat(1001),
  });
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: 1001, held: 1000 }]);
  expect(stderr).toMatch(/\n.*unexpected_reply.* 1,000 of 1,001 orders done; .* safe to repeat\.\n$/);
});

describe('preview', () => {
  /** Runs `orders preview`. */
  const preview = (args: string[], options: Options = {}) => runAs('preview', args, options);

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
    expect(known).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`\nduplicate +of order ${body.order_id}\n$`),
    });
    await cancel(['P-3']);
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
});
