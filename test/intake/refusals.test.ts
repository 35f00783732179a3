import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { setSuspended } from '@orders/database/accounts/accounts.ts';
import { createKey, replaceKey, revokeKey } from '@orders/database/accounts/api-keys.ts';
import { createApiKey } from '@orders/domain/api-key.ts';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { lockTables, whoWait } from '../harness/barriers.ts';
import { moveClock } from '../harness/clock.ts';
import { sign } from '../harness/hashes.ts';
import { testQueues } from '../harness/queue.ts';
import { untilCountersShared } from '../harness/rate-limits.ts';
import { type TestAccount, withStack } from '../harness/stack.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

let signed: TestAccount;
let unsigned: TestAccount;

const { stack, knex, db, intake } = useStack({ intake: true });

beforeAll(async () => {
  signed = await stack.account({ signing: true });
  unsigned = await stack.account();
});

const ORDER = { source_order_id: 'rejected-1' };

function expectProblem(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(reply.headers['cache-control']).toBe('no-store');
  expect(reply.body.request_id).toBe(reply.headers['x-request-id']);
  expect(reply.body.type).toBe(`/docs/senders/errors#${code}`);
}

describe('the key', () => {
  test.each([
    ['no Authorization header', {}],
    ['another scheme', { Authorization: 'Basic abc' }],
    ['no key after the scheme', { Authorization: 'Bearer ' }],
    ['two words after the scheme', { Authorization: 'Bearer a b' }],
  ])('%s causes missing_api_key', async (_what, headers) => {
    const reply = await intake.api.send('POST', '/ingest/orders', headers as Record<string, string>, '{}');
    expectProblem(reply, 401, 'missing_api_key');
    expect(reply.headers['www-authenticate']).toBe('Bearer');
  });

  test.each([
    ['not of our form', () => 'secret'],
    ['of our form and unknown', createApiKey],
    ['with one character mistyped', () => signed.key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
  ])('a key %s causes invalid_api_key', async (_what, key) => {
    const reply = await intake.api.order({ ...signed, key: key() }, ORDER);
    expectProblem(reply, 401, 'invalid_api_key');
    expect(reply.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  test('the Bearer scheme is accepted in any case', async () => {
    const reply = await intake.api.order(signed, {}, { Authorization: `bEARER ${signed.key}` });
    expectProblem(reply, 422, 'validation_failed');
  });

  test('a revoked key stops working within 5 seconds, even if it was just used', async () => {
    const account = await stack.account();
    expect((await intake.api.order(account, {})).status).toBe(422);
    const [keyId] = await knex('api_keys').where({ account_id: account.id }).pluck('key_id');
    await revokeKey(db, keyId);
    await moveClock(5);
    expectProblem(await intake.api.order(account, {}), 401, 'invalid_api_key');
  });

  test('a replaced key works during its grace period and not afterwards', async () => {
    const { id } = await stack.account();
    const expiredKey = await createKey(db, id, 'no grace');
    const kept = await createKey(db, id, 'grace');
    await replaceKey(db, expiredKey.key_id, 0);
    const next = await replaceKey(db, kept.key_id, 3_600_000);
    const withKey = (key: string) => intake.api.order({ id, key, secret: null }, {});
    expectProblem(await withKey(expiredKey.key), 401, 'invalid_api_key');
    expectProblem(await withKey(kept.key), 422, 'validation_failed');
    expectProblem(await withKey(next?.key as string), 422, 'validation_failed');
  });

  test('a suspended account gets account_suspended on each route', async () => {
    const account = await stack.account({ signing: true });
    await setSuspended(db, account.id, true);
    expectProblem(await intake.api.order(account, ORDER), 403, 'account_suspended');
    expectProblem(await intake.api.webhook(account, ORDER), 403, 'account_suspended');
    expectProblem(await intake.api.status(account, 'x'), 403, 'account_suspended');
  });
});

describe('the signature', () => {
  test('of an account without signing causes signing_unavailable with advice', async () => {
    const reply = await intake.api.webhook(unsigned, ORDER);
    expectProblem(reply, 403, 'signing_unavailable');
    expect(reply.body.detail).toMatch(/operator/);
  });

  test('without its header causes missing_signature', async () => {
    const headers = { Authorization: `Bearer ${signed.key}`, 'Content-Type': 'application/json' };
    expectProblem(await intake.api.send('POST', '/ingest/webhook', headers, '{}'), 401, 'missing_signature');
  });

  const body = JSON.stringify(ORDER);
  test.each([
    ['malformed', () => 'sha256=xyz'],
    ['too short', (secret: string) => sign(secret, body).slice(1)],
    ['of another algorithm', (secret: string) => `sha1=${sign(secret, body)}`],
    ['by another secret', () => sign('oss_other', body)],
    ['over re-serialized JSON', (secret: string) => sign(secret, JSON.stringify(ORDER, null, 2))],
    ['over the body and a newline', (secret: string) => sign(secret, `${body}\n`)],
  ])('is rejected as invalid_signature: %s', async (_what, signature) => {
    const headers = { 'x-service-signature': signature(signed.secret as string) };
    expectProblem(await intake.api.webhook(signed, body, headers), 401, 'invalid_signature');
  });

  test('covers the bytes as sent, never a re-serialized form', async () => {
    const spaced = JSON.stringify(ORDER, null, 2);
    const overCompact = { 'x-service-signature': sign(signed.secret, JSON.stringify(ORDER)) };
    expectProblem(await intake.api.webhook(signed, spaced, overCompact), 401, 'invalid_signature');
    const spacedEmpty = '{ }';
    expectProblem(await intake.api.webhook(signed, spacedEmpty), 422, 'validation_failed');
    expectProblem(await intake.api.webhook(signed, `\ufeff${spacedEmpty}`), 422, 'validation_failed');
  });

  test.each([
    ['with the prefix', (hex: string) => `sha256=${hex}`],
    ['bare', (hex: string) => hex],
    ['in upper case', (hex: string) => `SHA256=${hex.toUpperCase()}`],
  ])('is accepted as hex %s', async (_what, write) => {
    const headers = { 'x-service-signature': write(sign(signed.secret, '{}')) };
    expectProblem(await intake.api.webhook(signed, '{}', headers), 422, 'validation_failed');
  });

  test('is checked before the idempotency key and the body', async () => {
    const headers = { 'x-service-signature': '0'.repeat(64), 'Idempotency-Key': 'not ok' };
    expectProblem(await intake.api.webhook(signed, 'no json', headers), 401, 'invalid_signature');
  });
});

describe('the body', () => {
  test.each([
    ['text/plain', { 'Content-Type': 'text/plain' }],
    ['application/jsonp', { 'Content-Type': 'application/jsonp' }],
    ['a charset other than UTF-8', { 'Content-Type': 'application/json; charset=latin1' }],
  ])('with %s causes unsupported_media_type', async (_what, headers) => {
    expectProblem(await intake.api.order(unsigned, ORDER, headers), 415, 'unsupported_media_type');
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'is accepted as %s',
    async (type) => {
      expectProblem(await intake.api.order(unsigned, {}, { 'Content-Type': type }), 422, 'validation_failed');
    },
  );

  test('that is compressed causes unsupported_content_encoding', async () => {
    const reply = await intake.api.order(unsigned, ORDER, { 'Content-Encoding': 'gzip' });
    expectProblem(reply, 415, 'unsupported_content_encoding');
  });

  test('of 1 MB causes payload_too_large', async () => {
    const reply = await intake.api.order(unsigned, { ...ORDER, address: 'x'.repeat(1_000_000) });
    expectProblem(reply, 413, 'payload_too_large');
  });

  test('that announces a gigabyte, or grows beyond the limit, is rejected at once', async () => {
    const { port } = new URL(intake.api.url);
    for (const framing of ['Content-Length: 1000000000', 'Transfer-Encoding: chunked']) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${unsigned.key}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
      );
      if (framing.startsWith('T'))
        for (let sent = 0; sent < 5; sent++) socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`);
      const [head] = await once(socket, 'data');
      expect(String(head)).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
  });

  test('is accepted at exactly the limit and rejected one byte above it', async () => {
    const filled = (size: number) => JSON.stringify({ a: '' }).replace('""', `"${'x'.repeat(size - 8)}"`);
    expectProblem(await intake.api.order(unsigned, filled(262_144)), 422, 'validation_failed');
    expectProblem(await intake.api.order(unsigned, filled(262_145)), 413, 'payload_too_large');
  });

  test.each([
    ['empty', ''],
    ['not JSON', '{"source_order_id": "a",}'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an array', '[]'],
    ['a string', '"a"'],
    ['null', 'null'],
    ['nested too deep', `{"source_order_id":"a","x":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['nested absurdly deep', '['.repeat(200_000)],
    ['two values', '{}{}'],
  ])('that is invalid (%s) causes malformed_body', async (_what, body) => {
    expectProblem(await intake.api.order(unsigned, body), 400, 'malformed_body');
  });

  test.each([
    ['missing', {}],
    ['a number', { source_order_id: 1.5 }],
    ['null', { source_order_id: null }],
    ['empty', { source_order_id: '' }],
    ['blank', { source_order_id: ' \u3000' }],
    ['too long', { source_order_id: 'x'.repeat(256) }],
    ['with a control character', { source_order_id: 'a\nb' }],
    ['with U+0000', { source_order_id: 'a\u0000' }],
  ])('with source_order_id %s causes validation_failed', async (_what, order) => {
    const reply = await intake.api.order(unsigned, order);
    expectProblem(reply, 422, 'validation_failed');
    expect(reply.body.errors).toMatchObject([{ pointer: '/source_order_id' }]);
  });

  test('with a lone surrogate in source_order_id causes validation_failed', async () => {
    expectProblem(await intake.api.order(unsigned, '{"source_order_id":"a\\ud800"}'), 422, 'validation_failed');
  });

  test.each([
    ['with a space', 'a b'],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'schl\u00fcssel'],
  ])('with Idempotency-Key %s causes invalid_idempotency_key', async (_what, key) => {
    const reply = await intake.api.order(unsigned, ORDER, { 'Idempotency-Key': key });
    expectProblem(reply, 400, 'invalid_idempotency_key');
  });

  test('with an Idempotency-Key of exactly 255 characters is accepted', async () => {
    expectProblem(
      await intake.api.order(unsigned, {}, { 'Idempotency-Key': 'k'.repeat(255) }),
      422,
      'validation_failed',
    );
  });

  test.each(['order', 'webhook'] as const)(
    'that needs corrections is rejected by strict handling in %s with all of them, and stores nothing',
    async (route) => {
      const before = await countStored(knex);
      const order = { source_order_id: 's', customer: 'Aisha', items: [{ name: 'A', quantity: 1.5 }], gift: true };
      const reply = await intake.api[route](signed, order, { Prefer: 'handling=strict' });
      expectProblem(reply, 422, 'validation_failed');
      expect(reply.headers['preference-applied']).toBe('handling=strict');
      const found = reply.body.errors.map((error: Record<string, string>) => `${error.pointer} ${error.code}`);
      expect(found).toEqual([
        '/customer customer_as_text',
        '/items/0/quantity quantity_unreadable',
        '/gift unknown_field',
      ]);
      expect(JSON.stringify(reply.body)).not.toMatch(/Aisha|1\.5/);
      expect(await countStored(knex)).toBe(before);
    },
  );

  test.each(['order', 'webhook'] as const)(
    'that needs no correction is accepted by strict handling in %s',
    async (route) => {
      const order = { source_order_id: `strict ${route}`, customer: { phone: '050 123 4567' }, emirate: 'dxb' };
      const reply = await intake.api[route](signed, order, { Prefer: 'handling=strict' });
      expect(reply.status).toBe(202);
      expect(reply.headers['preference-applied']).toBe('handling=strict');
    },
  );

  test('with lenient handling gets Preference-Applied', async () => {
    const reply = await intake.api.order(signed, { source_order_id: 'l', gift: true }, { Prefer: 'handling=lenient' });
    expect(reply.status).toBe(202);
    expect(reply.headers['preference-applied']).toBe('handling=lenient');
  });
});

describe('the path and the method', () => {
  test.each(['/', '/ingest', '/ingest/orders/', '/Ingest/orders', '/ingest/status', '/%E0%A4%A'])(
    '%s is not_found, also without a key',
    async (path) => expectProblem(await intake.api.send('GET', path), 404, 'not_found'),
  );

  test.each([
    ['GET', '/ingest/orders', 'POST'],
    ['PUT', '/ingest/webhook', 'POST'],
    ['GET', '/ingest/preview', 'POST'],
    ['GET', '/ingest/reconcile', 'POST'],
    ['POST', '/ingest/status/x', 'GET, HEAD'],
    ['OPTIONS', '/ingest/orders', 'POST'],
  ])('%s %s is method_not_allowed', async (method, path, allow) => {
    const reply = await intake.api.send(method, path);
    expect({ status: reply.status, code: reply.body.code }).toEqual({ status: 405, code: 'method_not_allowed' });
    expect(reply.headers.allow).toBe(allow);
  });

  test.each(['x', '%E0%A4%A', '00000000-0000-4000-8000-000000000000', '01a1f9bd-9a17-7354-8023-e51a3a7d2f89'])(
    'the status of %s is receipt_not_found',
    async (id) => expectProblem(await intake.api.status(unsigned, id), 404, 'receipt_not_found'),
  );

  test('a receipt of another account gets the same reply as an unknown one', async () => {
    const accepted = await intake.api.order(signed, { source_order_id: 'mine' });
    expect(accepted.status).toBe(202);
    const foreign = await intake.api.status(unsigned, accepted.body.receipt_id, { 'X-Request-Id': 'r' });
    const unknown = await intake.api.status(unsigned, '01a1f9bd-9a17-7354-8023-e51a3a7d2f89', { 'X-Request-Id': 'r' });
    expectProblem(foreign, 404, 'receipt_not_found');
    expect(foreign.body).toEqual(unknown.body);
  });
});

test('X-Request-Id is kept if it is valid, and replaced otherwise', async () => {
  const idOf = async (sent: string) =>
    (await intake.api.send('GET', '/', { 'X-Request-Id': sent })).headers['x-request-id'];
  expect(await idOf('trace-1/2')).toBe('trace-1/2');
  expect(await idOf('two words')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
});

test('a rejected request stores nothing and does not use up its idempotency key', async () => {
  const before = await countStored(knex);
  const key = { 'Idempotency-Key': 'used-by-a-rejection' };
  expectProblem(await intake.api.order(unsigned, '{', key), 400, 'malformed_body');
  expectProblem(await intake.api.order(unsigned, {}, key), 422, 'validation_failed');
  expect(await countStored(knex)).toBe(before);
  const accepted = await intake.api.order(unsigned, { source_order_id: 'after-rejections' }, key);
  expect(accepted.body.duplicate).toBeUndefined();
  expectProblem(await intake.api.order(unsigned, '{', key), 400, 'malformed_body');
});

const LOGGED: [code: string, status: number, body: string, headers: Record<string, string>][] = [
  ['malformed_body', 400, '{', {}],
  ['validation_failed', 422, '{}', {}],
  ['invalid_api_key', 401, '{}', { Authorization: 'Bearer nope' }],
  ['invalid_idempotency_key', 400, '{}', { 'Idempotency-Key': 'a b' }],
  ['payload_too_large', 413, 'x'.repeat(1_000_000), {}],
  ['unsupported_media_type', 415, '{}', { 'Content-Type': 'text/plain' }],
];
test.each(LOGGED)('%s leaves one clear line in the log', async (code, status, body, headers) => {
  const requestId = `logged-${code}`;
  await intake.api.order(unsigned, body, { ...headers, 'X-Request-Id': requestId });
  const lines = () => intake.log.lines.filter((line) => line.request_id === requestId);
  await until('it is logged', async () => lines().length > 0);
  expect(lines()).toMatchObject([{ message: 'request rejected', route: '/ingest/orders', status, code }]);
});

testQueues(
  'an account above its rate (%s) gets rate_limited with Retry-After, and other accounts are not affected',
  (kind) =>
    withStack(kind, async (limits) => {
      const [limited, beside] = [
        await limits.intake({ RATE_LIMIT: '3/1h' }),
        await limits.intake({ RATE_LIMIT: '3/1h' }),
      ];
      const [one, other] = [await limits.account(), await limits.account()];
      const isShared = kind === 'redis';
      await untilCountersShared(limits, [limited, beside]);
      expect((await limited.api.preview(one, {})).status).toBe(422);
      for (let sent = 0; sent < 2; sent++) expect((await limited.api.order(one, {})).status).toBe(422);
      const rejected = [await limited.api.order(one, {}), await limited.api.preview(one, {})];
      if (isShared) rejected.push(await beside.api.order(one, {}));
      for (const reply of rejected) {
        expectProblem(reply, 429, 'rate_limited');
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
        expect(reply.headers['ratelimit-policy']).toBe('"account";q=3;w=3600');
        expect(reply.headers.ratelimit).toMatch(/^"account";r=0;t=\d+$/);
      }
      expect((await limited.api.order(other, {})).status).toBe(422);
    }),
);

test.each(['order', 'preview'] as const)(
  'too many requests in flight (%s) cause overloaded with Retry-After',
  async (call) => {
    const smallIntake = await stack.intake({ MAX_IN_FLIGHT: '1' });
    const account = await stack.account();
    const locked = await lockTables(knex, 'receipts, orders');
    const first = smallIntake.api[call](account, { source_order_id: `held ${call}` });
    await whoWait(knex, 1, 'relation');
    const second = await smallIntake.api[call](account, { source_order_id: `too many ${call}` });
    expectProblem(second, 503, 'overloaded');
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    await locked.release();
    expect((await first).status).toBe(call === 'order' ? 202 : 200);
  },
);

test('with Postgres down every route replies storage_unavailable, for known and unknown keys', async () => {
  const withoutPostgres = await stack.intake({ DATABASE_URL: 'postgres://orders:x@127.0.0.1:9/none' });
  for (const account of [signed, { ...signed, key: createApiKey() }]) {
    for (const reply of [
      await withoutPostgres.api.order(account, ORDER),
      await withoutPostgres.api.webhook(account, ORDER),
      await withoutPostgres.api.preview(account, ORDER),
      await withoutPostgres.api.status(account, '01a1f9bd-9a17-7354-8023-e51a3a7d2f89'),
    ]) {
      expectProblem(reply, 503, 'storage_unavailable');
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    }
  }
  expect(withoutPostgres.log.text()).not.toContain(signed.key);
});

test('a Postgres that cannot store causes storage_unavailable', () =>
  withStack('postgres', async (readOnly) => {
    const account = await readOnly.account();
    const name = new URL(readOnly.database.url).pathname.slice(1);
    await readOnly.database.knex.raw(`alter database ${name} set default_transaction_read_only = on`);
    // Past a pooler, whose connections are older than the setting.
    const { api } = await readOnly.intake({ DATABASE_URL: readOnly.database.directUrl });
    expectProblem(await api.order(account, ORDER), 503, 'storage_unavailable');
    expectProblem(await api.status(account, '01a1f9bd-9a17-7354-8023-e51a3a7d2f89'), 404, 'receipt_not_found');
  }));

test.each([
  ['garbage', 'nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
  [
    'both lengths',
    'POST /ingest/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    /^HTTP\/1\.1 400 /,
  ],
  ['headers too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
])('bytes that are not HTTP (%s) get the plain reply of the parser', async (_what, bytes, answer) => {
  const socket = connect(Number(new URL(intake.api.url).port), '127.0.0.1');
  socket.write(bytes);
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(answer);
  socket.destroy();
});

test('any other error causes internal_error without details', () =>
  withStack('postgres', async (broken) => {
    const { api, log } = await broken.intake();
    const account = await broken.account();
    await broken.database.knex.raw('alter table outbox rename to elsewhere');
    const reply = await api.order(account, ORDER);
    expectProblem(reply, 500, 'internal_error');
    expect(JSON.stringify(reply.body)).not.toMatch(/outbox|relation|insert/);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', error: expect.objectContaining({ code: '42P01' }) }),
    );
  }));
