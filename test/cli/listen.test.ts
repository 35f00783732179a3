import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createApiKey, createSigningSecret, normalizeSent } from '@orders/domain';
import { createDeliveries } from '../../apps/cli/src/listen/deliveries.ts';
import { parseFailures } from '../../apps/cli/src/listen/failures.ts';
import { testWith } from '../harness/programs.ts';
import { sign } from '../harness/sign.ts';
import { until } from '../harness/until.ts';
import { endListeners, type Listener, startListener } from './listen-process.ts';
import { run } from './run.ts';

const ORDER = {
  source_order_id: 'L-1',
  customer: { name: 'Aisha', phone: '050 123 4567' },
  emirate: 'DXB',
  total: 9.5,
};

describe('a delivery', () => {
  afterEach(endListeners);

  test('gets the reply of the service and is shown as the order that it would become', async () => {
    const listener = await startListener(['--json']);
    const reply = await listener.webhook(ORDER, { 'X-Request-Id': 'mine-1', 'Idempotency-Key': 'k-1' });
    expect(reply.status).toBe(202);
    const { receipt_id, ...rest } = (await reply.json()) as Record<string, string>;
    expect([receipt_id, rest]).toEqual([expect.stringMatching(/^[0-9a-f-]{14}7/), {}]);
    expect(reply.headers.get('location')).toBe(`/ingest/status/${receipt_id}`);
    expect(reply.headers.get('x-request-id')).toBe('mine-1');
    expect(reply.headers.get('idempotent-replayed')).toBeNull();
    const unsigned = await listener.webhook(
      { source_order_id: 'L-2' },
      { 'x-service-signature': 'x' },
      '/ingest/orders',
    );
    expect(unsigned.status).toBe(202);
    const [shown, next] = await listener.lines(2);
    expect(next).toMatchObject({ path: '/ingest/orders', status: 202 });
    expect(shown).toMatchObject({
      method: 'POST',
      path: '/ingest/webhook',
      request_id: 'mine-1',
      status: 202,
      code: null,
      simulated: false,
      diagnosis: null,
      receipt_id,
      idempotency_key: 'k-1',
      repeats: null,
      order: { source_order_id: 'L-1', customer: { phone: '+971501234567' }, emirate_code: 'AE-DU', total: '9.5' },
      warnings: [],
    });
  });

  test('is found by its receipt id, and no other is', async () => {
    const listener = await startListener(['--json', '--base-path', '/api']);
    const reply = await listener.webhook({ ...ORDER, gift: true }, { Prefer: 'wait=5, handling=lenient' });
    const accepted = (await reply.json()) as Record<string, unknown>;
    expect(accepted).toEqual({ receipt_id: expect.any(String), status: 'written', order_id: 1 });
    expect(reply.headers.get('preference-applied')).toBe('handling=lenient, wait=5');
    expect(reply.headers.get('location')).toBe(`/api/ingest/status/${accepted.receipt_id}`);
    const get = (id: unknown, key = listener.key) =>
      fetch(`${listener.url}/ingest/status/${id}`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await (await get(accepted.receipt_id)).json()).toMatchObject({
      ...accepted,
      channel: 'webhook',
      source_order_id: 'L-1',
      warnings: [{ pointer: '/gift', code: 'unknown_field' }],
      error: null,
      duplicate_of: null,
      changes: [],
    });
    expect(await (await get('01a1f9bd-9a17-7354-8023-e51a3a7d2f89')).json()).toMatchObject({
      code: 'receipt_not_found',
    });
    expect((await get(accepted.receipt_id, createApiKey())).status).toBe(401);
  });

  test('is shown as text with its warnings, and with control characters escaped', async () => {
    const listener = await startListener(['--raw']);
    await listener.webhook({ ...ORDER, total: 'free' });
    await listener.webhook('{"a":"\u202e\u001b[2J');
    await until('it is shown', async () => listener.stdout.includes('\\u001b[2J'));
    expect(listener.shown).toMatch(/^\d\d:\d\d:\d\d {2}POST \/ingest\/webhook {2}202 accepted {2}[0-9a-f-]{36}\n/);
    expect(listener.shown).toMatch(/phone +\+971501234567\n/);
    expect(listener.shown).toMatch(/emirate +Dubai \(AE-DU\)\n/);
    expect(listener.shown).toMatch(/warnings +.*\/total total_unreadable/s);
    for (const unsafe of ['\u202e', '\u001b']) expect(listener.shown).not.toContain(unsafe);
  });
});

describe('what is wrong', () => {
  let listener: Listener;
  beforeAll(async () => {
    listener = await startListener(['--json']);
  });
  afterAll(endListeners);

  const signed = (secret: string, body: string) => ({ 'x-service-signature': `sha256=${sign(secret, body)}` });
  const body = JSON.stringify(ORDER);

  test.each<[string, (listener: Listener) => Promise<Response>, number, string, string | null]>([
    [
      'another secret',
      (to) => to.webhook(body, signed(createSigningSecret(), body)),
      401,
      'invalid_signature',
      'another_secret',
    ],
    [
      'a body serialized again after it was signed',
      (to) => to.webhook(JSON.stringify(ORDER, null, 2), signed(to.secret, body)),
      401,
      'invalid_signature',
      'body_reserialized',
    ],
    [
      'a text with sorted members that was signed',
      (to) =>
        to.webhook(
          '{"source_order_id":"x","emirate":"DXB"}',
          signed(to.secret, '{"emirate":"DXB","source_order_id":"x"}'),
        ),
      401,
      'invalid_signature',
      'members_sorted',
    ],
    [
      'a timestamp that was signed too',
      (to) => to.webhook(body, { ...signed(to.secret, `1700000000.${body}`), 'X-Timestamp': '1700000000' }),
      401,
      'invalid_signature',
      'timestamp_signed',
    ],
    [
      'the key as secret',
      (to) => to.webhook(body, signed(to.key, body)),
      401,
      'invalid_signature',
      'signed_with_api_key',
    ],
    [
      'base64',
      (to) => to.webhook(body, { 'x-service-signature': Buffer.from(sign(to.secret, body), 'hex').toString('base64') }),
      401,
      'invalid_signature',
      'base64_instead_of_hex',
    ],
    [
      'no signature but another one',
      (to) => unsigned(to, { 'X-Shop-Hmac': 'x' }),
      401,
      'missing_signature',
      'another_header',
    ],
    ['no signature', (to) => unsigned(to, {}), 401, 'missing_signature', null],
    ['bad JSON', (to) => to.webhook("{'source_order_id':'x'}"), 400, 'malformed_body', 'single_quotes'],
    ['no object', (to) => to.webhook([ORDER]), 400, 'malformed_body', 'not_an_object'],
    ['no source_order_id', (to) => to.webhook({ total: 1 }), 422, 'validation_failed', null],
    [
      'what strict handling refuses',
      (to) => to.webhook({ ...ORDER, x: 1 }, { Prefer: 'handling=strict' }),
      422,
      'validation_failed',
      null,
    ],
    [
      'another media type',
      (to) => to.webhook(body, { 'Content-Type': 'text/plain' }),
      415,
      'unsupported_media_type',
      'plain_text',
    ],
    [
      'compression',
      (to) => to.webhook(body, { 'Content-Encoding': 'gzip' }),
      415,
      'unsupported_content_encoding',
      null,
    ],
    [
      'a bad Idempotency-Key',
      (to) => to.webhook(body, { 'Idempotency-Key': 'a b' }),
      400,
      'invalid_idempotency_key',
      null,
    ],
    ['too much', (to) => to.webhook(`"${'x'.repeat(262_144)}"`), 413, 'payload_too_large', null],
    ['no key', (to) => to.webhook(body, { Authorization: '' }), 401, 'missing_api_key', null],
    [
      'another key',
      (to) => to.webhook(body, { Authorization: `Bearer ${createApiKey()}` }),
      401,
      'invalid_api_key',
      'another_key',
    ],
    [
      'half a key',
      (to) => to.webhook(body, { Authorization: `Bearer ${to.key.slice(0, 30)}` }),
      401,
      'invalid_api_key',
      'no_whole_key',
    ],
    ['another path', (to) => to.webhook(body, {}, '/webhook'), 404, 'not_found', 'another_path'],
    ['another method', (to) => fetch(`${to.url}/ingest/webhook`), 405, 'method_not_allowed', null],
  ])('%s: refused as the service would, with the likely cause', async (_, send, status, code, cause) => {
    const reply = await send(listener);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect([reply.status, await reply.json()]).toEqual([status, expect.objectContaining({ status, code })]);
    const shown = await listener.line(reply.headers.get('x-request-id'));
    expect(shown).toMatchObject({ status, code, receipt_id: null, order: null });
    expect(shown.diagnosis?.code ?? null).toBe(cause);
    if (status === 401 && /key/.test(code)) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  const unsigned = (to: Listener, headers: Record<string, string>) =>
    fetch(`${to.url}/ingest/webhook`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${to.key}`, 'Content-Type': 'application/json', ...headers },
      body,
    });
});

describe('a duplicate', () => {
  afterEach(endListeners);

  test('by its Idempotency-Key is the first receipt again', async () => {
    const listener = await startListener(['--json']);
    const keyed = { 'Idempotency-Key': 'same' };
    const first = (await (await listener.webhook(ORDER, keyed)).json()) as Record<string, string>;
    const spelled = { ...ORDER, total: '9.50' };
    for (const [index, order] of [ORDER, spelled].entries()) {
      const again = await listener.webhook(order, keyed);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
      expect(await again.json()).toEqual({ ...first, duplicate: true });
      expect((await listener.lines(index + 2)).at(-1).repeats).toEqual({
        by: 'idempotency_key',
        receipt_id: first.receipt_id,
        payload_mismatch: false,
        kept_as: null,
        changes: [],
      });
    }
  });

  describe('by its Idempotency-Key with other content', () => {
    const RESENT = { ...ORDER, total: 10 };
    const OTHER = { ...RESENT, source_order_id: 'another' };
    const CHANGES = [{ pointer: '/total', from: '9.5', to: '10' }];

    /** Sends an order and then twice other content under its key. */
    async function sendUnderOneKey(argv: string[], other: object) {
      const listener = await startListener(argv);
      const send = async (order: object, headers: Record<string, string> = { 'Idempotency-Key': 'same' }) =>
        (await (await listener.webhook(order, headers, '/ingest/orders')).json()) as Record<string, string>;
      const first = await send(ORDER);
      const replies = [await send(other), await send({ ...other, total: '10.00' })];
      const [{ kept_as } = {}] = replies;
      expect(kept_as).toEqual(expect.not.stringMatching(first.receipt_id as string));
      for (const reply of replies)
        expect(reply).toEqual({ ...first, duplicate: true, payload_mismatch: true, kept_as });
      const headers = { Authorization: `Bearer ${listener.key}` };
      const status = await (await fetch(`${listener.url}/ingest/status/${kept_as}`, { headers })).json();
      return { listener, first, kept_as, status, send };
    }

    test('a correction is kept as a receipt that ends as duplicate, once for each content', async () => {
      const { listener, first, kept_as, status, send } = await sendUnderOneKey(['--json'], RESENT);
      expect(status).toMatchObject({
        status: 'duplicate',
        attempts: 1,
        duplicate_of: { receipt_id: first.receipt_id, order_id: 1 },
        changes: CHANGES,
      });
      const repeats = {
        by: 'idempotency_key',
        receipt_id: first.receipt_id,
        payload_mismatch: true,
        kept_as: { receipt_id: kept_as, status: 'duplicate', error: null },
        changes: CHANGES,
      };
      const lines = await listener.lines(4);
      expect(lines.map((line) => line.repeats)).toEqual([null, repeats, repeats, null]);
      expect(lines[1].order.total).toBe('10');
      expect((await send({ ...RESENT, total: 11 })).kept_as).not.toBe(kept_as);
    });

    test('another order is dead and makes no order, until it comes under a key of its own', async () => {
      const { listener, kept_as, status, send } = await sendUnderOneKey(['--json'], OTHER);
      const error = { code: 'idempotency_key_reused', detail: expect.any(String) };
      expect(status).toMatchObject({ status: 'dead', attempts: 0, order_id: null, error, warnings: [], changes: [] });
      expect((await listener.lines(2))[1].repeats).toMatchObject({
        kept_as: { receipt_id: kept_as, status: 'dead', error: 'idempotency_key_reused' },
      });
      const alone = await send(OTHER, { 'Idempotency-Key': 'own', Prefer: 'wait=1' });
      expect(alone).toMatchObject({ status: 'written', order_id: 2 });
    });

    test.each([
      [RESENT, /would end as duplicate[\s\S]*\/total: "9.5" → "10"/],
      [OTHER, /dead \(idempotency_key_reused\)/],
    ])('it is shown as what it is kept as: %j', async (other, shown) => {
      const { listener, kept_as } = await sendUnderOneKey([], other);
      await until('it is shown', async () => listener.shown.includes('GET /ingest/status/'));
      expect(listener.shown).toMatch(/202 payload_mismatch/);
      expect(listener.shown).toContain(`${kept_as}, `);
      expect(listener.shown.replaceAll(/\s+/g, ' ')).toMatch(shown);
    });
  });

  test('by its source_order_id would end as a duplicate, and says in which fields it differs', async () => {
    const listener = await startListener(['--json']);
    const first = (await (await listener.webhook(ORDER)).json()) as Record<string, string>;
    const corrected = { ...ORDER, customer: { ...ORDER.customer, phone: '050 123 4568' } };
    const reply = await listener.webhook(corrected, { Prefer: 'wait=1' });
    expect(reply.headers.get('idempotent-replayed')).toBeNull();
    const { receipt_id } = (await reply.clone().json()) as Record<string, string>;
    expect(await reply.json()).toEqual({
      receipt_id: expect.not.stringMatching(first.receipt_id as string),
      status: 'duplicate',
      order_id: null,
    });
    const changes = [{ pointer: '/customer/phone', from: '+971501234567', to: '+971501234568' }];
    expect((await listener.lines(2)).at(-1).repeats).toEqual({
      by: 'source_order_id',
      receipt_id: first.receipt_id,
      payload_mismatch: false,
      kept_as: null,
      changes,
    });
    const headers = { Authorization: `Bearer ${listener.key}` };
    const status = await fetch(`${listener.url}/ingest/status/${receipt_id}`, { headers });
    expect(await status.json()).toMatchObject({
      status: 'duplicate',
      order_id: null,
      duplicate_of: { receipt_id: first.receipt_id, order_id: 1 },
      changes,
    });
  });

  test('is forgotten after hundreds of later deliveries', () => {
    const deliveries = createDeliveries();
    const accept = (id: string) =>
      deliveries.accept({
        ...normalizeSent({ source_order_id: id }),
        channel: 'rest',
        idempotencyKey: `key ${id}`,
        body: Buffer.from('{}'),
      });
    const first = accept('first');
    for (let index = 1; index < 500; index++) accept(`more-${index}`);
    expect(accept('first')).toMatchObject({ replayed: true, receipt: first.receipt });
    accept('one more');
    expect(deliveries.find(first.receipt.receiptId)).toBeNull();
    expect(accept('first')).toMatchObject({ replayed: false, receipt: { original: null } });
  });
});

describe('--fail', () => {
  afterEach(endListeners);

  test('refuses the first deliveries, with Retry-After', async () => {
    const listener = await startListener(['--json', '--fail', '429,503x2, 500']);
    const replies = [];
    for (let sent = 0; sent < 5; sent++) replies.push(await listener.webhook(ORDER));
    expect(replies.map(({ status, headers }) => [status, headers.has('retry-after')])).toEqual([
      [429, true],
      [503, true],
      [503, true],
      [500, false],
      [202, false],
    ]);
    const lines = await listener.lines(5);
    expect(lines.map((line) => line.simulated)).toEqual([true, true, true, true, false]);
  });

  test('or every one that is a multiple', () => {
    const failures = parseFailures('503/3');
    const codes = Array.from({ length: 6 }, () => failures.next()?.code ?? null);
    expect(codes).toEqual([null, null, 'overloaded', null, null, 'overloaded']);
  });

  test.each(['404', '503x0', '503/1', 'x', ''])('"%s" is a usage error', async (fail) => {
    const { code, stderr } = await run(['listen', '--fail', fail], {});
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^--fail takes /)]);
  });
});

describe('the process', () => {
  afterEach(endListeners);

  test('shows neither key nor secret nor signature after its start message, wherever they occur', async () => {
    const listener = await startListener(['--raw'], { ORDERS_API_KEY: undefined, ORDERS_SIGNING_SECRET: undefined });
    const { key, secret } = listener;
    expect(secret).toMatch(/^oss_/);
    const other = createApiKey();
    const body = JSON.stringify({ ...ORDER, address: key, area: secret, delivery_instructions: other });
    await listener.webhook(
      body,
      { 'X-Copy': `${key} ${secret}`, 'X-Token': 'another-token' },
      `/ingest/webhook?key=${key}`,
    );
    await listener.webhook(body, {}, `/${key}`);
    await listener.webhook(body, { 'X-Api-Key': other, 'x-service-signature': secret });
    await until('all is shown', async () => listener.shown.includes('401 invalid_signature'));
    expect(await listener.end()).toBe(0);
    expect(listener.shown).toContain('Authorization: Bearer …');
    for (const hidden of [key, secret, other, sign(secret, body), 'another-token'])
      expect(listener.shown).not.toContain(hidden);
  });

  test('never shows a key or secret that was given', async () => {
    const listener = await startListener(['--json', '--raw']);
    const { key, secret } = listener;
    await listener.webhook({ ...ORDER, address: `${key} ${secret}` });
    expect((await listener.lines(1))[0]).toMatchObject({
      headers: expect.arrayContaining([['Authorization', 'Bearer …']]),
    });
    await listener.end();
    for (const hidden of [key, secret, JSON.stringify(secret).slice(1, -1)])
      expect(listener.stdout + listener.stderr).not.toContain(hidden);
  });

  testWith('curl', 'openssl')('its start lines work when they are pasted into a shell', async () => {
    const listener = await startListener([], { ORDERS_API_KEY: undefined, ORDERS_SIGNING_SECRET: undefined });
    const lines = listener.stdout.split('\n').filter((line) => line !== '' && !/^(#|Listening)/.test(line));
    const { stdout } = await promisify(execFile)('sh', ['-c', lines.join('\n')]);
    expect(stdout).toMatch(/^HTTP\/1\.1 202 /);
  });

  test('Ctrl-C ends it with a count of the requests, exit code 0', async () => {
    const listener = await startListener();
    await listener.webhook(ORDER);
    await listener.webhook(ORDER);
    await listener.webhook('{');
    expect(await listener.end()).toBe(0);
    expect(listener.stdout).toMatch(/\n3 requests: 1 × 202 accepted, 1 × 202 duplicate, 1 × 400 malformed_body\.\n$/);
    expect(listener.stderr).toBe('');
  });

  test('says so if there were no requests, and with --json prints nothing else to stdout', async () => {
    const listener = await startListener(['--json']);
    expect(await listener.end('SIGTERM')).toBe(0);
    expect([listener.stdout, listener.stderr]).toEqual(['', expect.stringMatching(/\nNo requests\.\n$/)]);
  });

  test('reports requests to https://', async () => {
    const listener = await startListener();
    await fetch(listener.url.replace('http:', 'https:')).catch(() => {});
    await until('it is told', async () => listener.shown.includes('send to http://'));
  });

  test.each([
    ['a port that is taken', async () => ['--port', new URL((await startListener()).url).port], {}, /it is taken/],
    ['no port', async () => ['--port', 'x'], {}, /^--port takes/],
    ['no path', async () => ['--base-path', 'api'], {}, /^--base-path takes/],
    ['half a key', async () => [], { ORDERS_API_KEY: 'oik_half' }, /ORDERS_API_KEY must be a whole API key/],
    ['too short a secret', async () => [], { ORDERS_SIGNING_SECRET: 'short' }, /ORDERS_SIGNING_SECRET/],
  ])('%s is a usage error, in one line', async (_, argv, env, line) => {
    const { code, stderr } = await run(['listen', ...(await argv())], env);
    expect([code, stderr]).toEqual([2, expect.stringMatching(line)]);
  });
});
