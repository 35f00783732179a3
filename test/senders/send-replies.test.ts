import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { until } from '@orders/test-services/until.ts';
import { useDirectory } from '../harness/directory.ts';
import { listen } from '../harness/listen.ts';
import { MAIN } from '../harness/run-command.ts';
import { ordersOf, send, startSend, withoutProgress } from '../harness/send.ts';

const files = useDirectory();

/** Starts a service with a given request listener. */
async function startService(answer: RequestListener): Promise<{ url: string; key: string }> {
  const server = createServer((request, response) => request.resume().on('end', () => answer(request, response)));
  return { url: (await listen(server)).url, key: 'oik_x' };
}
const ORDERS = ordersOf(['1', '2']);

function json(value: object, status = 200): Parameters<typeof startService>[0] {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
const batch = (...results: object[]) => json({ accepted: 0, refused: 0, results }, 202);
const problem = (status: number, headers = {}): RequestListener => {
  const text = JSON.stringify({ type: 'about:blank', title: '-', status, code: 'overloaded', detail: 'Later.' });
  return (_, response) =>
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(text);
};

/** Returns these receipts from reconcile, and the status of the first. */
const settled =
  (...results: object[]): RequestListener =>
  (request, response) =>
    json(request.url?.endsWith('/reconcile') ? { results } : { ...results[0] })(request, response);

test('a Retry-After beyond --give-up-after ends the run at once', async () => {
  let asked = 0;
  const sender = await startService((...all) => {
    asked += 1;
    problem(503, { 'retry-after': '900' })(...all);
  });
  const file = await files.write('later.ndjson', ORDERS);
  const { code, stderr } = await send(sender, [file]);
  expect([code, asked, stderr]).toEqual([1, 1, expect.stringContaining('Retry-After is 900 s')]);
});

test('a Retry-After of several weeks counts as a day, and is waited for without polling', async () => {
  let asked = 0;
  const sender = await startService((...all) => {
    asked += 1;
    problem(503, { 'retry-after': '3000000' })(...all);
  });
  const file = await files.write('weeks.ndjson', ORDERS);
  const sending = startSend(sender, [file, '--give-up-after', '2d'], '', ['--trace-warnings']);
  await until('it has asked', async () => asked > 0);
  await until('it prints that it waits', async () => sending.printed.stderr.includes('waits'));
  sending.child.kill('SIGINT');
  const { code, stderr } = await sending.ended;
  expect([code, asked, stderr]).toEqual([130, 1, expect.not.stringContaining('TimeoutOverflowWarning')]);
});

test('unknown codes are counted, and replies cannot move the cursor', async () => {
  const refusal = (code: string) => ({ error: { status: 422, code, detail: 'a\nb\u001b[2J\u009b1m\u202e' } });
  const sender = await startService(batch(refusal('__proto__'), refusal('constructor')));
  const file = await files.write('codes.ndjson', ORDERS);
  const { code, stdout } = await send(sender, [file, '--json']);
  const report = JSON.parse(stdout);
  expect([code, report.rejected]).toEqual([1, 2]);
  expect(Object.entries(report.failed_by_code)).toEqual([
    ['__proto__', 1],
    ['constructor', 1],
  ]);
  const shown = (await send(sender, [file])).stdout;
  expect(shown).toContain('\n2 orders failed: 1 × __proto__, 1 × constructor\n');
  expect(shown).toContain('order 1, line 1 (1): __proto__: a\\nb\\u001b[2J\\u009b1m\\u202e\n');
});

test('orders without a known outcome are pending, not failed, and the same command asks again', async () => {
  let followUp: RequestListener = problem(503, { 'retry-after': '900' });
  const ids = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
  const results = ids.map((receipt_id, at) => ({
    source_order_id: String(at + 1),
    status: 'written',
    receipt_id,
    order_id: at + 1,
    received_at: '2026-01-01T00:00:00Z',
  }));
  const sender = await startService((request, response) => {
    if (request.url?.endsWith('/batch')) return batch(...ids.map((receipt_id) => ({ receipt_id })))(request, response);
    return followUp(request, response);
  });
  const file = await files.write('away.ndjson', ORDERS);
  const { code, stdout } = await send(sender, [file, '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { statuses: { pending: 2, unknown: 0 }, not_asked: expect.stringMatching(/ 900 s\.$/), failed_file: null },
  ]);
  followUp = settled(...results);
  const again = await send(sender, [file, '--json']);
  expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { statuses: { written: 2 } }]);
});

test('a service that rejects the request for outcomes has not rejected the orders', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  const sender = await startService((request, response) =>
    (request.url?.endsWith('/batch') ? batch({ receipt_id: id }, { receipt_id: id }) : problem(404))(request, response),
  );
  const file = await files.write('mute.ndjson', ORDERS);
  const { code, stdout, stderr } = await send(sender, [file]);
  expect([code, withoutProgress(stderr)]).toEqual([1, 'Not all orders are known to be written.\n']);
  expect(stdout).toContain('  2  accepted, not known to be written yet; run the same command again to ask\n');
  expect(stdout.split('\n').at(-2)).toBe(
    'All orders were sent, but the outcome of 2 could not be retrieved. The service rejected the request (404 overloaded): Later. Run the same command again later, or give --no-wait not to ask.',
  );
});

test('the parts of a batch that is too large have their own keys, the same in every run', async () => {
  const keys: string[] = [];
  const sender = await startService((request, response) => {
    if (Number(request.headers['content-length']) > 30) return problem(413)(request, response);
    keys.push(String(request.headers['idempotency-key']));
    batch({ error: { status: 422, code: 'validation_failed', detail: 'x' } })(request, response);
  });
  const file = await files.write('halves.ndjson', ordersOf(['1', '2', '3']));
  await send(sender, [file]);
  await send(sender, [file]);
  expect(new Set(keys).size).toBe(3);
  expect(keys.slice(3)).toEqual(keys.slice(0, 3));
});

test('after something was sent, an error of the input says how to continue', async () => {
  const sender = await startService(batch({ receipt_id: '00000000-0000-7000-8000-000000000001' }));
  const file = await files.write('broken.json', '[{"source_order_id":"1"}] {}');
  const { code, stderr } = await send(sender, [file, '--batch-size', '1', '--concurrency', '1']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      / after the end of the array\. The same command then sends what is missing: no order is stored/,
    ),
  ]);
});

test('failures are in input order, whatever the order of the replies', async () => {
  const error = { status: 422, code: 'validation_failed', detail: 'x' };
  const { promise: othersReplied, resolve } = Promise.withResolvers<void>();
  let replies = 0;
  const sender = await startService(async (request, response) => {
    // The first batch has another length than the others.
    const isFirst = request.headers['content-length'] === String(ordersOf(['first']).length);
    if (isFirst) await othersReplied;
    batch({ error })(request, response);
    replies += 1;
    // As many as may be sent before the first one has a reply.
    if (replies === 3) resolve();
  });
  const orders = ordersOf(['first', ...Array.from({ length: 9 }, (_, at) => String(at))]);
  const file = await files.write('order.ndjson', orders);
  const { stdout } = await send(sender, [file, '--json', '--batch-size', '1', '--concurrency', '2']);
  const positions = JSON.parse(stdout).failures.map((failure: { position: number }) => failure.position);
  expect(positions).toEqual(Array.from({ length: 10 }, (_, at) => at + 1));
  expect(await files.read('order.ndjson.failed.ndjson')).toBe(orders);
});

test('an order that the service cannot process is skipped, and the others are sent', async () => {
  const poison = String(ordersOf(['poison']).length - 1);
  let asked = 0;
  const service = await startService((request, response) => {
    if (request.headers['content-length'] !== poison)
      return json({ receipt_id: '00000000-0000-7000-8000-000000000001' }, 202)(request, response);
    asked += 1;
    problem(500)(request, response);
  });
  const file = await files.write('poison.ndjson', ordersOf(['1', 'poison', '3']));
  const { code, stdout } = await send({ ...service, secret: 'oss_x' }, [file, '--webhook', '--no-wait', '--json']);
  const failures = [{ position: 2, status: 'rejected', code: 'overloaded' }];
  expect([code, asked, JSON.parse(stdout)]).toMatchObject([1, 5, { statuses: { not_followed: 2 }, failures }]);
});

test('the number of awaited outcomes excludes rejected orders', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  const refusal = { error: { status: 422, code: 'validation_failed', detail: 'x' } };
  let [lookUps, drawn] = [0, ''];
  const sender = await startService(async (request, response) => {
    if (request.url?.endsWith('/batch'))
      return batch(refusal, ...Array.from({ length: 999 }, () => ({ receipt_id: id })))(request, response);
    if (!request.url?.endsWith('/reconcile'))
      return json({ receipt_id: id, status: 'written', error: null })(request, response);
    lookUps += 1;
    if (lookUps === 2)
      await until('the number of outcomes is shown', async () => drawn.includes(' 999 of 1,998 outcomes known'));
    json({ results: [] })(request, response);
  });
  const file = await files.write('known.ndjson', ordersOf(Array.from({ length: 2000 }, (_, at) => String(at))));
  const terminal = { isTTY: true, columns: 100, write: (text: string) => (drawn += text) };
  expect((await send(sender, [file], '', terminal)).stdout).toMatch(/ 1,998 {2}written/);
});

test.each(['stdout', 'stderr'] as const)('a closed %s does not change the result', async (name) => {
  const refusal = { error: { status: 422, code: 'validation_failed', detail: 'x' } };
  const sender = await startService((request, response) => {
    // After the first progress line.
    setTimeout(() => batch(refusal, refusal)(request, response), 1500);
  });
  const file = await files.write(`closed-${name}.ndjson`, ORDERS);
  const child = spawn(process.execPath, [MAIN, 'send', file], {
    env: { ...baseEnvironment(), NODE_ENV: 'production', ORDERS_URL: sender.url, ORDERS_API_KEY: sender.key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child[name].destroy();
  const other = name === 'stdout' ? child.stderr : child.stdout;
  let output = '';
  other.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  expect([code, output]).toEqual([1, expect.stringContaining(name === 'stdout' ? 'Not all orders' : '2  rejected')]);
  expect((await files.read(`closed-${name}.ndjson.failed.ndjson`)).trim().split('\n')).toHaveLength(2);
});

const IDS = Array.from({ length: 2000 }, (_, at) => `order-${String(at).padStart(5, '0')}`);

test.each([
  ['ndjson', ordersOf(IDS)],
  ['json', JSON.stringify(IDS.map((source_order_id) => ({ source_order_id })))],
  ['csv', `source_order_id,total\r\n${IDS.map((id) => `${id},12.50\r\n`).join('')}`],
])('the progress bar of %s shows what has a reply, not what was read', async (format, content) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let batches = 0;
  const sender = await startService(async (...all) => {
    batches += 1;
    if (batches > 4) await released;
    batch(...Array.from({ length: 100 }, () => ({ receipt_id: 'x' })))(...all);
  });
  const file = await files.write(`progress.${format}`, content);
  const shown: string[] = [];
  const terminal = { isTTY: true, columns: 100, write: (line: string) => shown.push(line) };
  const args = [file, '--no-wait', '--batch-size', '100', '--concurrency', '1', '--give-up-after', '2s'];
  const sending = send(sender, args, '', terminal);
  try {
    const line = await until('400 orders have a reply', async () => shown.find((one) => one.includes(' 400 orders')));
    expect(line).toMatch(/^\r\[#####-{19}\] (19|20) % 400 orders, /);
  } finally {
    release();
    expect(await sending).toMatchObject({ code: 0 });
  }
});
