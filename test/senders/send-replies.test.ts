import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { MAIN, send, startSend, useDirectory, withoutProgress } from '../harness/send.ts';
import { until } from '../harness/until.ts';

const files = useDirectory();
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await once(server.close(), 'close');
  }
});

/** Starts a service with a given request listener. */
async function startService(answer: RequestListener): Promise<{ url: string; key: string }> {
  const server = createServer((request, response) => request.resume().on('end', () => answer(request, response)));
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'oik_x' };
}
const ORDERS = '{"source_order_id":"1"}\n{"source_order_id":"2"}\n';

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

test('a Retry-After of several weeks is waited for without polling', async () => {
  let asked = 0;
  const sender = await startService((...all) => {
    asked += 1;
    problem(503, { 'retry-after': '3000000' })(...all);
  });
  const file = await files.write('weeks.ndjson', ORDERS);
  const sending = startSend(sender, [file, '--give-up-after', '365d'], '', ['--trace-warnings']);
  await until('it has asked', async () => asked > 0);
  await until('it prints that it waits', async () => sending.said().includes('waits'));
  sending.kill('SIGINT');
  const { code, stderr } = await sending.ended;
  expect([code, asked, stderr]).toEqual([130, 1, expect.not.stringContaining('TimeoutOverflowWarning')]);
});

test('unknown codes are counted, and replies cannot move the cursor', async () => {
  const refusal = (code: string) => ({ error: { status: 422, code, detail: 'a\nb\u001b[2J\u009b1m\u202e' } });
  const sender = await startService(batch(refusal('__proto__'), refusal('constructor')));
  const file = await files.write('codes.ndjson', ORDERS);
  const { code, stdout } = await send(sender, [file, '--json']);
  const report = JSON.parse(stdout);
  expect([code, report.refused]).toEqual([1, 2]);
  expect(Object.entries(report.refused_by_code)).toEqual([
    ['__proto__', 1],
    ['constructor', 1],
  ]);
  const shown = (await send(sender, [file])).stdout;
  expect(shown).toContain('1 × __proto__');
  expect(shown).toContain('order 1, line 1 (1): __proto__: a\\nb\\u001b[2J\\u009b1m\\u202e\n');
});

test('a dry run reports an order above the default size limit', async () => {
  const file = await files.write(
    'large.ndjson',
    `{"source_order_id":"1","address":"${'x'.repeat(262_144)}"}\n${ORDERS}`,
  );
  const { code, stdout } = await send({ url: '', key: '' }, [file, '--dry-run']);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/order 1, line 1 \(1\): payload_too_large: .*262,144.*by default/),
  ]);
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
  expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { sent_before: 2, statuses: { written: 2 } }]);
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

describe('an order whose key was already used for other content', () => {
  const [original, kept] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
  const mismatch = { receipt_id: original, duplicate: true, payload_mismatch: true, kept_as: kept };
  const place = { place: 1, line: 1, source_order_id: '1', receipt_id: kept };
  const ORDER = '{"source_order_id":"1"}\n';
  const REUSED = { code: 'idempotency_key_reused', detail: 'The key was used before.' };

  test.each([
    [
      'of the same id',
      { status: 'duplicate', error: null },
      { status: 'duplicate', code: 'payload_mismatch', changed: ['/address'] },
    ],
    ['of another id', { status: 'dead', error: REUSED }, { status: 'dead', ...REUSED }],
  ])('has the outcome of the receipt that keeps it: %s', async (_, outcome, failure) => {
    const changes = outcome.status === 'duplicate' ? [{ pointer: '/address', from: null, to: 'Villa 9' }] : [];
    const asked: (string | undefined)[] = [];
    const sender = await startService((request, response) => {
      if (request.url?.endsWith('/batch'))
        return json({ accepted: 0, refused: 0, mismatched: 1, results: [mismatch] }, 202)(request, response);
      asked.push(request.url);
      const newest = { source_order_id: '1', receipt_id: kept, order_id: null, received_at: '', ...outcome };
      settled({ ...newest, changes })(request, response);
    });
    const file = await files.write('kept.ndjson', ORDER);
    const { code, stdout } = await send(sender, [file, '--json', '--restart']);
    expect([code, asked]).toEqual([1, ['/ingest/reconcile', `/ingest/status/${kept}`]]);
    expect(JSON.parse(stdout)).toMatchObject({ refused: 0, listed: 1, failures: [{ ...place, ...failure }] });
    expect(stdout).not.toContain('Villa');
  });

  test.each([
    ['--batch-size=10', json({ accepted: 0, refused: 0, mismatched: 1, results: [mismatch] }, 202)],
    ['--webhook', json(mismatch, 202)],
  ])('is reported without a request for outcomes, sent by %s, and is recorded for the next run', async (way, reply) => {
    // A later run first requests a recorded receipt to check that the account is the same.
    const answer: RequestListener = (request, response) =>
      (request.method === 'POST' ? reply : json({ receipt_id: kept, status: 'received' }))(request, response);
    const sender = { ...(await startService(answer)), secret: 'oss_x' };
    const file = await files.write(`unasked${way}.ndjson`, ORDER);
    for (const _ of ['sent', 'on record']) {
      const { code, stdout } = await send(sender, [file, '--json', '--no-wait', way]);
      const failure = { ...place, status: 'accepted', code: 'payload_mismatch', detail: expect.stringContaining(kept) };
      expect([code, JSON.parse(stdout)]).toMatchObject([
        1,
        { refused: 0, changed: 1, statuses: { not_followed: 1 }, listed: 1, failures: [failure] },
      ]);
    }
  });

  test('gets its own key with --only-failed', async () => {
    const keys: unknown[] = [];
    const sender = await startService((request, response) => {
      keys.push(request.headers['idempotency-key']);
      batch(mismatch)(request, response);
    });
    const file = await files.write('own-key.ndjson', ORDER);
    await send(sender, [file, '--no-wait']);
    await send(sender, [file, '--no-wait', '--only-failed']);
    expect(new Set(keys).size).toBe(2);
  });

  test('counts as rejected if the service did not keep it', async () => {
    const { kept_as: _, ...dropped } = mismatch;
    const sender = await startService(batch(dropped));
    const file = await files.write('dropped.ndjson', ORDER);
    const { code, stdout } = await send(sender, [file, '--json', '--no-wait']);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { refused: 1, refused_by_code: { payload_mismatch: 1 } }]);
  });
});

test('--only-failed keeps an open order recorded until its outcome is known', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  let followUp: RequestListener = problem(503, { 'retry-after': '900' });
  const sender = await startService((request, response) =>
    (request.url?.endsWith('/batch') ? batch({ receipt_id: id }) : followUp)(request, response),
  );
  const file = await files.write('open.ndjson', ORDERS);
  const failure = {
    place: 2,
    of: 2,
    line: 2,
    source_order_id: '2',
    receipt_id: null,
    status: 'refused',
    code: 'x',
    detail: '',
  };
  await files.write('open.ndjson.failed.jsonl', `${JSON.stringify(failure)}\n`);
  expect(await send(sender, [file, '--only-failed'])).toMatchObject({ code: 1 });
  const receipt = { receipt_id: id, status: 'written', order_id: 1, received_at: '2026-01-01T00:00:00Z' };
  followUp = settled({ source_order_id: '2', ...receipt });
  const { code, stdout } = await send(sender, [file, '--only-failed', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { sent_before: 1, statuses: { written: 1 }, failed_file: null },
  ]);
  await expect(files.read('open.ndjson.failed.jsonl')).rejects.toThrow('ENOENT');
});

test('the parts of a batch that is too large have their own keys, the same in every run', async () => {
  const keys: string[] = [];
  const sender = await startService((request, response) => {
    if (Number(request.headers['content-length']) > 30) return problem(413)(request, response);
    keys.push(String(request.headers['idempotency-key']));
    batch({ error: { status: 422, code: 'validation_failed', detail: 'x' } })(request, response);
  });
  const file = await files.write('halves.ndjson', `${ORDERS}{"source_order_id":"3"}\n`);
  await send(sender, [file]);
  await send(sender, [file, '--restart']);
  expect(new Set(keys).size).toBe(3);
  expect(keys.slice(3)).toEqual(keys.slice(0, 3));
});

describe('after something is recorded, an error says that the same command resumes', () => {
  const accepted = batch({ receipt_id: '00000000-0000-7000-8000-000000000001' });

  test('for any name of the input', async () => {
    const sender = await startService(accepted);
    const file = await files.write('till --restart.json', '[{"source_order_id":"1"}] {}');
    const { code, stderr } = await send(sender, [file, '--batch-size', '1']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/ after the end of the array\. The same command resumes /),
    ]);
  });

  test('unless the error gives other advice', async () => {
    const sender = await startService(accepted);
    const failures = [1, 2].map((place) => ({ place, of: 2, line: place, source_order_id: String(place) }));
    const before = failures.map((one) => ({ ...one, receipt_id: null, status: 'refused', code: 'x', detail: '' }));
    const path = await files.write('theirs.jsonl', before.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const words = ['--only-failed', '--failed', path, '--journal', files.path('theirs.journal'), '--batch-size', '1'];
    const moved = '{"source_order_id":"1"}\n{"source_order_id":"3"}\n';
    const { code, stderr } = await send(sender, ['-', '--format', 'ndjson', ...words], moved);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ send all of them without --only-failed; .*twice\.\n$/)]);
  });
});

test('the results of all requests in flight are recorded when the input fails', async () => {
  const accepted = batch({ receipt_id: '00000000-0000-7000-8000-000000000001' });
  // Long after the input was read.
  const sender = await startService((...all) => void setTimeout(() => accepted(...all), 500));
  const array = '[{"source_order_id":"1"},{"source_order_id":"2"}]';
  const file = await files.write('broken.json', `${array} {}`);
  const args = [file, '--batch-size', '1', '--no-wait'];
  const { code, stderr } = await send(sender, args);
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is more after the end of the array.')]);
  const journal = (await files.read('broken.json.orders-send.jsonl')).trimEnd().split('\n');
  const entries = journal.map((line) => JSON.parse(line));
  expect(entries.filter(({ results }) => results)).toHaveLength(2);
  // The input can then be corrected without --restart.
  await files.write('broken.json', array);
  expect(await send(sender, args)).toMatchObject({ code: 0 });
});

test('Ctrl-C leaves no temporary journal', async () => {
  const sender = await startService(problem(503, { 'retry-after': '5' }));
  const sending = startSend(sender, ['-', '--format', 'ndjson'], ORDERS, [], { TMPDIR: files.path('') });
  const journals = () => readdirSync(files.path('')).filter((name) => name.startsWith('orders-send-'));
  await until('it has begun', async () => journals().length > 0 && sending.said().includes('waits'));
  sending.kill('SIGTERM');
  expect((await sending.ended).code).toBe(143);
  expect(journals()).toEqual([]);
});

test('the displayed speed and remaining time are those of this run only', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  const accepted = batch(...Array.from({ length: 50 }, () => ({ receipt_id: id })));
  let [batches, refuseFrom, drawn] = [0, 1, ''];
  const linesBefore = () => drawn.split('\r').filter((line) => line.includes(' 50 orders'));
  const sender = await startService(async (request, response) => {
    if (!request.url?.endsWith('/batch'))
      return json({ receipt_id: id, status: 'written', error: null })(request, response);
    batches += 1;
    if (batches > refuseFrom) return problem(401)(request, response);
    if (batches === 3) await until('progress lines are shown', async () => linesBefore().length > 3);
    if (batches === 4)
      await until('the speed of this run is shown', async () => / 100 orders, [1-9]\d*\/s, .* left/.test(drawn));
    accepted(request, response);
  });
  const orders = Array.from({ length: 150 }, (_, at) => `{"source_order_id":"${at}"}\n`).join('');
  const file = await files.write('speed.ndjson', orders);
  const args = [file, '--no-wait', '--batch-size', '50', '--concurrency', '1'];
  expect((await send(sender, args)).code).toBe(1);
  refuseFrom = Number.POSITIVE_INFINITY;
  const terminal = { isTTY: true, columns: 100, write: (text: string) => (drawn += text) };
  expect((await send(sender, args, '', terminal)).code).toBe(0);
  for (const line of linesBefore()) expect(line).toContain(' 50 orders, 0/s, 0 refused');
});

test('the number of awaited outcomes excludes orders that an earlier run knows to be rejected', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  let [batches, isOver, drawn] = [0, false, ''];
  const sender = await startService(async (request, response) => {
    if (!request.url?.endsWith('/batch')) {
      if (batches === 3)
        await until('the number of outcomes is shown', async () => drawn.includes(' of 3 outcomes known'));
      const isList = request.url?.endsWith('/reconcile');
      return json(isList ? { results: [] } : { receipt_id: id, status: 'written', error: null })(request, response);
    }
    batches += 1;
    if (batches === 2 && !isOver) return problem(401)(request, response);
    const refusal = { error: { status: 422, code: 'validation_failed', detail: 'x' } };
    batch(batches === 1 ? refusal : { receipt_id: id }, { receipt_id: id })(request, response);
  });
  const orders = Array.from({ length: 4 }, (_, at) => `{"source_order_id":"${at}"}\n`).join('');
  const file = await files.write('known.ndjson', orders);
  const args = [file, '--batch-size', '2', '--concurrency', '1'];
  expect((await send(sender, args)).code).toBe(1);
  isOver = true;
  const terminal = { isTTY: true, columns: 100, write: (text: string) => (drawn += text) };
  expect((await send(sender, args, '', terminal)).stdout).toMatch(/ 3 {2}written/);
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
  expect([code, output]).toEqual([1, expect.stringContaining(name === 'stdout' ? 'Not all orders' : '2  refused')]);
  expect((await files.read(`closed-${name}.ndjson.failed.jsonl`)).trim().split('\n')).toHaveLength(2);
});
