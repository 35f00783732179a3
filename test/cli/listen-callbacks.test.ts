import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createEndpoint, requestTest, resendEvents, setEvents } from '@orders/database';
import { createStandardSecret } from '@orders/domain';
import { baseEnvironment } from '@orders/test-services';
import { Webhook } from 'standardwebhooks';
import { MAIN } from '../harness/send.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { run } from './run.ts';

const SECRET = createStandardSecret();
const EVENT = {
  id: 'evt_1',
  type: 'order.rejected',
  timestamp: '2026-11-24T12:00:00.000Z',
  data: { sequence: 7, receipt_id: 'r', source_order_id: 'SHOP-1', order_id: 12, reason: 'sold\nout \u202e' },
};
const BODY = JSON.stringify(EVENT);

const running = new Set<() => Promise<unknown>>();

afterEach(async () => {
  for (const end of running) await end();
});

/** Starts `orders listen --callbacks` in a process of its own. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'listen', '--callbacks', '--port', '0', ...args], {
    env: { ...baseEnvironment(), NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const closed = once(child, 'close');
  const end = async () => {
    running.delete(end);
    child.kill('SIGINT');
    return (await closed)[0];
  };
  running.add(end);
  const [text, url = ''] = await until('it listens', async () => {
    if (child.exitCode !== null) throw new Error(written.stderr);
    const started = /Listening for events on (\S+)[\s\S]*# Ctrl-C ends it\.\n\n/;
    return started.exec(written.stdout) ?? started.exec(written.stderr);
  });
  const linesOf = () => written.stdout.replace(text, '').split('\n').slice(0, -1);
  return {
    url,
    start: text,
    written,
    end,
    lines: (count: number) =>
      until(`${count} lines`, async () => {
        const lines = linesOf();
        return lines.length >= count && lines;
      }),
  };
}

/** The headers of a delivery. */
function signed(body = BODY, { secret = SECRET, at = new Date(), id = 'evt_1' } = {}): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

const post = async (url: string, body = BODY, headers = signed(body)) => {
  const reply = await fetch(url, { method: 'POST', headers, body });
  return [reply.status, await reply.text()] as const;
};

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

describe('an event', () => {
  test('is one line with its verdict, and says if it came again', async () => {
    const listener = await start('--secret', SECRET);
    for (const path of ['', 'any/path?a=1']) expect(await post(listener.url + path)).toEqual([204, '']);
    const lines = (await listener.lines(2)).map((line) => line.split(/ {2,}/));
    const [time, shown] = [expect.stringMatching(/^\d\d:\d\d:\d\d$/), '"sold\\nout \\u202e"'];
    const first = [time, '204 verified', '7', '2026-11-24 12:00:00Z', 'order.rejected', 'SHOP-1', 'order 12', shown];
    expect(lines).toEqual([first, [...first, 'again']]);
    expect(await listener.end()).toBe(0);
    expect(listener.written.stdout).toMatch(/\n2 events, 0 rejected requests\.\n$/);
  });

  test('is one JSON object with --json, and everything else goes to stderr', async () => {
    const listener = await start('--json', '--secret', SECRET);
    await post(`${listener.url}hook?token=1`);
    await post(listener.url, BODY, signed(BODY, { secret: createStandardSecret() }));
    const [good, bad] = (await listener.lines(2)).map((line) => JSON.parse(line));
    expect(good).toEqual({
      at: expect.any(String),
      path: '/hook',
      status: 204,
      verdict: 'verified',
      detail: null,
      webhook_id: 'evt_1',
      again: false,
      event: EVENT,
    });
    expect(bad).toMatchObject({ path: '/', status: 401, verdict: 'wrong_secret', event: null });
    await listener.end();
    expect(listener.written.stdout.trim().split('\n')).toHaveLength(2);
    expect(listener.written.stderr).toMatch(/1 event, 1 rejected request\.\n$/);
  });

  test('of an unknown type, and one with data of any shape, is shown', async () => {
    const listener = await start('--secret', SECRET);
    const body = JSON.stringify({ ...EVENT, type: 'order.new_type' });
    expect(await post(listener.url, body)).toEqual([204, '']);
    expect((await listener.lines(1))[0]).toContain('order.new_type');
  });

  test('without a secret is shown as not verified', async () => {
    const listener = await start();
    expect(listener.start).toContain(`orders endpoints create <account> ${listener.url}\n`);
    expect(await post(listener.url, BODY, {})).toEqual([204, '']);
    const odd = JSON.stringify({ id: 'evt_2\u001b', type: 'x', data: { sequence: 1, changed: 'no list' } });
    expect(await post(listener.url, odd, {})).toEqual([204, '']);
    expect((await post(listener.url, '{}', {}))[0]).toBe(401);
    expect((await listener.lines(3)).map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ['204 unverified', 'order.rejected', 'evt_1'],
      ['204 unverified', 'x', 'evt_2\\u001b'],
      ['401 not_an_event', '/', 'The body is not an event.'],
    ]);
  });
});

describe('what is wrong', () => {
  let listener: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    listener = await start('--json', '--secret', SECRET);
    // Other tests must not end it.
    running.clear();
  });
  afterAll(() => listener?.end());
  let shown = 0;

  // Signed when they are sent, as a signature is valid for five minutes.
  test.each<[string, string, () => Record<string, string>, string, RegExp]>([
    [
      'another secret',
      BODY,
      () => signed(BODY, { secret: createStandardSecret() }),
      'wrong_secret',
      /another endpoint/,
    ],
    ['changed content', BODY.replace('SHOP-1', 'SHOP-2'), signed, 'wrong_secret', /content was changed on its way/],
    ['another id', BODY, () => ({ ...signed(), 'webhook-id': 'evt_2' }), 'wrong_secret', /No signature matches/],
    ['a reformatted body', JSON.stringify(EVENT, null, 2), signed, 'body_changed', /not the same bytes/],
    ['a line break at the end', `${BODY}\n`, signed, 'body_changed', /not the same bytes/],
    ['no headers', BODY, () => ({}), 'missing_header', /^The header webhook-id is missing\. Deliveries have/],
    [
      'no signature',
      BODY,
      () => ({ ...signed(), 'webhook-signature': '' }),
      'missing_header',
      /^The header webhook-signature/,
    ],
    [
      'an old time',
      BODY,
      () => signed(BODY, { at: inSeconds(-4000) }),
      'clock_difference',
      /is 4\d{3} seconds before .*Set the/,
    ],
    [
      'a time to come',
      BODY,
      () => signed(BODY, { at: inSeconds(4000) }),
      'clock_difference',
      /is (3\d{3}|4000) seconds after/,
    ],
    [
      'a time as text',
      BODY,
      () => ({ ...signed(), 'webhook-timestamp': 'now' }),
      'malformed_header',
      /not a Unix time/,
    ],
    ['hex', BODY, () => ({ ...signed(), 'webhook-signature': 'v1,abc' }), 'malformed_header', /base64 of 32 bytes/],
    ['a signed text', 'text', () => signed('text'), 'not_an_event', /signature is valid, but/],
  ])('%s gets 401 and the cause', async (_, body, headers, verdict, detail) => {
    expect(await post(listener.url, body, headers())).toEqual([401, '']);
    const line = (await listener.lines(++shown)).at(-1) as string;
    expect(JSON.parse(line)).toMatchObject({
      status: 401,
      verdict,
      detail: expect.stringMatching(detail),
      event: null,
    });
  });
});

test('a rejected request is one line, and the secret is never printed', async () => {
  const listener = await start('--secret', SECRET);
  const path = `${SECRET}%1b`;
  await post(listener.url + path, BODY, signed(BODY, { secret: createStandardSecret() }));
  const [line] = await listener.lines(1);
  expect(line).toMatch(/^\S+ {2}401 wrong_secret {2}\/…%1b {2}No signature matches\./);
  expect(listener.written.stdout).not.toContain(SECRET);
});

test('orders are not taken, only POST is, and a large body is refused', async () => {
  const listener = await start('--secret', SECRET);
  for (const path of ['ingest/orders', 'ingest/webhook', 'api/ingest/orders/cancel'])
    expect((await post(listener.url + path))[0]).toBe(404);
  expect((await fetch(listener.url)).status).toBe(405);
  expect((await post(listener.url, 'x'.repeat(2_000_000)))[0]).toBe(413);
  const lines = await listener.lines(5);
  expect(lines.map((line) => line.split(/ {2,}/)[1])).toEqual([
    '404 not_found',
    '404 not_found',
    '404 not_found',
    '405 method_not_allowed',
    '413 payload_too_large',
  ]);
  expect(lines[0]).toContain('With --callbacks no orders are taken');
});

describe('deliveries of the notifier', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack('postgres');
    await stack.worker();
    await stack.notifier();
  });

  test('are verified, test events and resent ones too', async () => {
    const intake = await stack.intake();
    const { knex } = stack.database;
    const account = await stack.account();
    await setEvents(knex, account.id, true);
    const unverified = await start();
    const options = { accountId: account.id, url: unverified.url, types: null };
    const endpoint = await createEndpoint(knex, stack.secretsKey, options);
    await unverified.end();
    const listener = await start('--secret', endpoint.secret);
    await knex('endpoints').where({ account_id: account.id }).update({ url: listener.url });
    await requestTest(knex, endpoint);
    expect((await listener.lines(1))[0]).toMatch(/ 204 verified {2}endpoint\.test {2}evt_[0-9a-f]{32}$/);
    await intake.api.order(account, { source_order_id: 'real', customer: { phone: '12' } });
    expect((await listener.lines(2))[1]).toMatch(
      / {2}204 verified {2}1 {2}\S+ \S+Z {2}receipt\.written .* real .*1 warn/,
    );
    await until('it can be sent again', async () => (await resendEvents(knex, endpoint, 1, 1)) === 1);
    expect((await listener.lines(3))[2]).toMatch(/ 204 verified {2}1 .* {2}again$/);
  });
});

describe('usage', () => {
  test.each([
    [['--secret', SECRET], /^--secret needs --callbacks\.$/],
    [['--callbacks', '--secret', 'whsec_short'], /^--secret must be the secret of an endpoint, whsec_ and base64\.$/],
    [['--callbacks', '--raw'], /^option '--callbacks' cannot be used with option '--raw'/],
    [['--callbacks', '--fail', '503'], /^option '--callbacks' cannot be used with option '--fail/],
    [['--callbacks', '--base-path', '/a'], /^option '--callbacks' cannot be used with option '--base-path/],
  ])('%j is a usage error', async (args, line) => {
    const { code, stderr } = await run(['listen', ...args], {});
    expect([code, stderr.trimEnd()]).toEqual([2, expect.stringMatching(line)]);
  });

  test('the secret may be a variable, which is not repeated when it is wrong', async () => {
    const { code, stderr } = await run(['listen', '--callbacks'], { ORDERS_ENDPOINT_SECRET: 'whsec_short' });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^Configuration: ORDERS_ENDPOINT_SECRET must be the s/)]);
  });
});
