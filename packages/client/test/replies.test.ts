import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  IdempotencyMismatchError,
  OrdersClient,
  OrdersError,
  ProblemError,
  requestIdOf,
  ValidationError,
} from '../src/index.ts';
import {
  accepted,
  answer,
  breakOff,
  hangUp,
  KEPT_AS,
  KEY,
  keepSilent,
  RECEIPT_ID,
  refuse,
  SECRET,
  type Step,
  startScript,
} from './scripted-server.ts';

const PERSONAL = 'Aisha Khan, 050 123 4567';
const ORDER = { source_order_id: 'r-1', customer: { name: PERSONAL } };
const HELD = { outcome: 'held', source_order_id: 'a', order_id: null };
const html =
  (status: number, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end(`<h1>Oh no</h1>${PERSONAL} ${KEY}`);

/** Everything that a log could show of a value. */
const shown = (value: unknown) => `${inspect(value, { depth: 9, showHidden: true })} ${JSON.stringify(value)} ${value}`;

/** @param timeoutMs is generous by default because the machine may be busy. */
async function failureOf(
  script: { client: (options: object) => OrdersClient },
  timeoutMs = 60_000,
): Promise<ProblemError> {
  return script
    .client({ maxRetries: 0, timeoutMs })
    .sendWebhook(ORDER)
    .then(
      () => {
        throw new Error('It was accepted.');
      },
      (error) => error,
    );
}

test.each([
  [400, 'malformed_body', 'InvalidRequestError'],
  [401, 'invalid_signature', 'AuthenticationError'],
  [403, 'signing_unavailable', 'PermissionError'],
  [404, 'receipt_not_found', 'NotFoundError'],
  [405, 'method_not_allowed', 'InvalidRequestError'],
  [413, 'payload_too_large', 'InvalidRequestError'],
  [415, 'unsupported_media_type', 'InvalidRequestError'],
  [418, 'from_the_future', 'InvalidRequestError'],
  [422, 'validation_failed', 'ValidationError'],
  [429, 'rate_limited', 'RateLimitError'],
  [500, 'internal_error', 'ServerError'],
  [503, 'overloaded', 'UnavailableError'],
])('%d %s is a %s, with the request id of the service', async (status, code, name) => {
  await using script = await startScript(refuse(status, code));
  const error = await failureOf(script);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toBeInstanceOf(OrdersError);
  expect(error).toMatchObject({ name, status, code, requestId: 'of-the-service', message: 'Said no.' });
  expect(error.problem).toMatchObject({ status, code, title: 'No', detail: 'Said no.' });
  expect(String(error)).toBe(`${name}: Said no.`);
});

test.each<[string, Step]>([
  ['the service', refuse(404, 'not_found')],
  ['a proxy', html(404)],
])('a 404 of %s for a whole path names the path and the option to check', async (_, step) => {
  await using script = await startScript(step);
  const call = script.client({ baseUrl: `${script.url}/shop/` }).submitOrder(ORDER);
  await expect(call).rejects.toThrow(
    / The request went to \/shop\/ingest\/orders; check baseUrl, to which the client appends the route\.$/,
  );
});

test('broken rules are listed, and the message has the first of them', async () => {
  const errors = ['/a', '/b', '/c', '/d'].map((pointer) => ({ pointer, code: 'too_long', detail: 'Too long.' }));
  await using script = await startScript(answer(422, { code: 'validation_failed', detail: 'Breaks rules.', errors }));
  const error = await failureOf(script);
  expect(error).toBeInstanceOf(ValidationError);
  expect((error as ValidationError).errors).toEqual(errors);
  expect(error.message).toBe('Breaks rules. /a: Too long. /b: Too long. /c: Too long. And 1 more.');
});

test.each<[string, unknown, object[]]>([
  ['null', null, []],
  ['a string', 'many', []],
  ['invalid entries', [null, 7, { pointer: '/a' }], []],
  [
    'a valid entry and an invalid one',
    [{ pointer: '/a', code: 'c', detail: 'd' }, {}],
    [{ pointer: '/a', code: 'c', detail: 'd' }],
  ],
])('a rejection with %s as errors keeps its code and is not retried', async (_, errors, listed) => {
  await using script = await startScript(answer(422, { code: 'validation_failed', detail: 'Said no.', errors }));
  const error = await script
    .client()
    .submitOrder(ORDER)
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ValidationError);
  expect(error).toMatchObject({ code: 'validation_failed', errors: listed });
  expect(script.arrived).toHaveLength(1);
});

test.each<[string, (client: OrdersClient) => Promise<unknown>, object]>([
  ['a receipt without a status', (client) => client.getReceipt(RECEIPT_ID), { receipt_id: RECEIPT_ID }],
  ['a receipt without an id', (client) => client.getReceipt(RECEIPT_ID), { status: 'written' }],
  ['a preview of nothing', (client) => client.preview(ORDER), { normalized: null }],
  ['ids without a list', (client) => client.reconcile(['a']), { results: null }],
  ['ids with an invalid result', (client) => client.reconcile(['a']), { results: [{ status: 'written' }] }],
  ['a cancellation without an outcome', (client) => client.cancelOrder('a'), { source_order_id: 'a', order_id: 1 }],
  ['a cancellation without an id', (client) => client.cancelOrder('a'), { outcome: 'held', order_id: null }],
  ['a list of cancellations without results', (client) => client.cancelOrders(['a']), { outcome: 'held' }],
  ['a list with an invalid result', (client) => client.cancelOrders(['a']), { results: [{ outcome: 'held' }] }],
  ['a list that is too short', (client) => client.cancelOrders(['a', 'b']), { results: [HELD] }],
  ...[null, {}, [null], [{}], [{ receipt_id: 7 }], [{ error: null }], [{ error: { code: 'no' } }]].map(
    (results): [string, (client: OrdersClient) => Promise<unknown>, object] => [
      `a batch of ${JSON.stringify(results)}`,
      (client) => client.submitBatch([ORDER]),
      { accepted: 1, refused: 0, results },
    ],
  ),
])('%s is not a valid reply', async (_, call, reply) => {
  await using script = await startScript(answer(200, reply));
  await expect(call(script.client())).rejects.toMatchObject({ name: 'OrdersError', code: 'unexpected_reply' });
  expect(script.arrived).toHaveLength(1);
});

const DUPLICATE_WITH_MISMATCH = { receipt_id: RECEIPT_ID, duplicate: true, payload_mismatch: true };

describe('a key that was already used for other content', () => {
  const failWith = async (reply: object, call: 'submitOrder' | 'sendWebhook') => {
    await using script = await startScript(answer(202, reply));
    const error = await script
      .client()
      [call](ORDER)
      .catch((thrown) => thrown);
    expect(script.arrived).toHaveLength(1);
    expect(error).toBeInstanceOf(IdempotencyMismatchError);
    expect(error).toBeInstanceOf(OrdersError);
    expect(error).toMatchObject({
      name: 'IdempotencyMismatchError',
      code: 'payload_mismatch',
      isRetryable: false,
      requestId: script.arrived[0]?.headers['x-request-id'],
      accepted: reply,
    });
    return error as IdempotencyMismatchError;
  };

  test.each(['submitOrder', 'sendWebhook'] as const)(
    '%s reports the receipt that keeps this delivery',
    async (call) => {
      const error = await failWith({ ...DUPLICATE_WITH_MISMATCH, kept_as: KEPT_AS }, call);
      expect(error.keptAs).toBe(KEPT_AS);
      expect(error.message).toContain(`kept as receipt ${KEPT_AS}.`);
      expect(error.message).toMatch(
        /changed order \(same source_order_id\) .* duplicate .* Another order \(another source_order_id\) .* dead /,
      );
    },
  );

  test('a reply without kept_as means that nothing of this delivery is stored', async () => {
    const error = await failWith(DUPLICATE_WITH_MISMATCH, 'submitOrder');
    expect(error.keptAs).toBeUndefined();
    expect(error.message).toContain('Nothing of this delivery is stored');
  });
});

test.each<[string, Step]>([
  ['a refusal', refuse(422, 'validation_failed')],
  ['a wrong key', refuse(401, 'invalid_api_key')],
  ['a page', html(200)],
])('%s is not worth a second attempt', async (_, step) => {
  await using script = await startScript(step);
  expect(await failureOf(script)).toMatchObject({ isRetryable: false });
});

test.each<[string, Step]>([
  ['a rate limit', refuse(429, 'rate_limited')],
  ['a request that came too slowly', refuse(408, 'late')],
  ['a fault', refuse(500, 'internal_error')],
  ['an overload', refuse(503, 'overloaded')],
  ['a broken connection', hangUp],
  ['silence', keepSilent],
])('%s is worth a second attempt', async (_, step) => {
  await using script = await startScript(step);
  expect(await failureOf(script, step === keepSilent ? 2000 : undefined)).toMatchObject({ isRetryable: true });
});

test.each<[string, Step, number]>([
  ['a page', html(502), 502],
  ['JSON of its own', answer(403, { message: PERSONAL }), 403],
  ['half a document', (response) => response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"c'), 500],
  ['nothing', (response) => response.writeHead(504).end(), 504],
])(
  'a proxy that replies with %s causes an error with its status that repeats none of the body',
  async (_, step, status) => {
    await using script = await startScript(step);
    const error = await failureOf(script);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status, code: 'unexpected_reply', problem: { code: 'unexpected_reply' } });
    expect(error.message).toContain(`${status}`);
    expect(error.requestId).toBe(script.arrived[0]?.headers['x-request-id']);
    expect(shown(error)).not.toContain('Aisha');
  },
);

test.each<[string, Step]>([
  ['a page', html(200)],
  ['JSON of its own', answer(202, { ok: true })],
  ['JSON that is no object', answer(202, [] as object)],
  ['a receipt without an id', answer(202, { receipt_id: null })],
])('a 2xx reply that the service does not send (%s) is an error', async (_, step) => {
  await using script = await startScript(step);
  const error = await failureOf(script);
  expect(error).toMatchObject({ name: 'OrdersError', code: 'unexpected_reply' });
  expect(shown(error)).not.toContain('Aisha');
  expect(script.arrived).toHaveLength(1);
});

test.each([
  [202, { name: 'OrdersError', isRetryable: false }],
  [500, { name: 'ServerError', isRetryable: true }],
])('an endless reply (%d) is cut off', async (status, expected) => {
  const broken = Promise.withResolvers<unknown>();
  await using script = await startScript((response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    pipeline(Array(64).fill('x'.repeat(2 ** 20)), response).then(broken.resolve, broken.resolve);
  });
  expect(await failureOf(script)).toMatchObject({ code: 'unexpected_reply', ...expected });
  expect(await broken.promise).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});

test.each([301, 302, 307, 308])('a redirect (%d) is not followed, so the key is not sent on', async (status) => {
  await using elsewhere = await startScript(accepted);
  await using script = await startScript(html(status, { Location: `${elsewhere.url}/${KEY}` }));
  const error = await failureOf(script);
  expect(error).toMatchObject({ name: 'OrdersError', code: 'unexpected_reply' });
  expect(error.message).toContain(elsewhere.url);
  expect(elsewhere.arrived).toEqual([]);
  expect(shown(error)).not.toContain(KEY);
});

test.each<[string, Step]>([
  ['a refusal', refuse(401, 'invalid_api_key')],
  ['a page', html(502)],
  ['a broken connection', hangUp],
  ['a reply that breaks off', breakOff],
  ['silence', keepSilent],
])('the error after %s contains no key, secret, signature or order', async (_, step) => {
  await using script = await startScript(step);
  const error = await failureOf(script, step === keepSilent ? 2000 : undefined);
  const signature = String(script.arrived[0]?.headers['x-service-signature']);
  expect(signature).toMatch(/^sha256=/);
  const text = shown(error);
  for (const secret of [KEY, SECRET, signature.slice(7), 'Aisha', '050 123']) expect(text).not.toContain(secret);
});

test('inspecting a client shows no key and no secret', () => {
  const client = new OrdersClient({ baseUrl: 'http://127.0.0.1:1', apiKey: KEY, signingSecret: SECRET });
  expect(shown(client)).not.toMatch(/oik_|oss_/);
});

test('connections are reused after each kind of reply', async () => {
  const kinds = [html(404), refuse(422, 'validation_failed'), html(200), html(302)];
  await using script = await startScript(accepted, ...kinds, ...kinds, ...kinds);
  const client = script.client({ maxRetries: 0 });
  for (let call = 0; call < 13; call++) await client.submitOrder(ORDER).catch(() => undefined);
  expect(script.arrived).toHaveLength(13);
  // A connection may return to the pool shortly after its reply was read, when another is already open.
  expect(new Set(script.arrived.map(({ socket }) => socket)).size).toBeLessThanOrEqual(3);
});

test.each<[string, object, RegExp]>([
  ['no key', { apiKey: undefined }, /^apiKey must be/],
  ['an empty key', { apiKey: '' }, /^apiKey must be/],
  ['a key with a line break', { apiKey: `${KEY}\n` }, /^apiKey must be/],
  ['no address', { baseUrl: undefined }, /^baseUrl must be/],
  ['an address without a scheme', { baseUrl: 'orders.example.com' }, /^baseUrl must be/],
  ['an address of another scheme', { baseUrl: 'ftp://orders.example.com' }, /^baseUrl must be/],
  ['an address with a password', { baseUrl: 'https://u:hidden@orders.example.com' }, /^baseUrl must be/],
  ['an address with a query', { baseUrl: 'https://orders.example.com/?a' }, /^baseUrl must be/],
  ...['orders', 'orders/', 'orders/batch', 'webhook', 'status/hidden'].map((route): [string, object, RegExp] => [
    `an address with the route ${route}`,
    { baseUrl: `https://orders.example.com/api/ingest/${route}` },
    /^baseUrl must be .* without a route: leave out "\/ingest\/(orders|webhook|status)"\.$/,
  ]),
  ['a timeout of 0', { timeoutMs: 0 }, /^timeoutMs must be/],
  ['a timeout that is not a number', { timeoutMs: Number.NaN }, /^timeoutMs must be/],
  ['negative retries', { maxRetries: -1 }, /^maxRetries must be/],
])('%s: the constructor throws a TypeError in one line that does not quote the value', (_, options, line) => {
  const make = () => new OrdersClient({ baseUrl: 'http://127.0.0.1:1', apiKey: KEY, ...options });
  expect(make).toThrow(TypeError);
  expect(make).toThrow(line);
  expect(make).not.toThrow(/\n|oik_k|hidden/);
});

test.each<[string, (client: OrdersClient) => Promise<unknown>, RegExp]>([
  ['an idempotency key', (client) => client.submitOrder(ORDER, { idempotencyKey: 'a b' }), /^idempotencyKey must be/],
  ...[null, 7, ['a'], { toString: () => 'a' }].map(
    (key): [string, (client: OrdersClient) => Promise<unknown>, RegExp] => [
      `${JSON.stringify(key)} as idempotency key`,
      (client) => client.submitOrder(ORDER, { idempotencyKey: key as unknown as string }),
      /^idempotencyKey must be/,
    ],
  ),
  [
    'an option that does not exist',
    (client) => client.submitOrder(ORDER, { idempotencykey: 'x' } as never),
    /^There is no option "idempotencykey"/,
  ],
  ['one of another call', (client) => client.submitBatch([ORDER], { wait: 3 } as never), /^There is no option "wait"/],
  ['a key of a batch', (client) => client.submitBatch([ORDER], { idempotencyKey: null as never }), /^idempotencyKey/],
  ['a negative wait', (client) => client.getReceipt(RECEIPT_ID, { wait: -100 }), /^wait must be/],
  ['a wait that is not a number', (client) => client.getReceipt(RECEIPT_ID, { wait: Number.NaN }), /^wait must be/],
  ['a lone surrogate', (client) => client.submitOrder('{"source_order_id":"\ud83d"}'), /half of a surrogate pair/],
  ['a lone surrogate in a webhook', (client) => client.sendWebhook('"\ude00"'), /half of a surrogate pair/],
  [
    'a lone surrogate in a batch',
    (client) => client.submitBatch(['{}', '"\ud83d"']),
    /^The order at index 1 contains half/,
  ],
  [
    'bytes that are not UTF-8 in a batch',
    (client) => client.submitBatch(['{}', new Uint8Array([0xff])]),
    /index 1 is not/,
  ],
  ...[undefined, '{}', {}, new Set(['{}'])].map(
    (orders): [string, (client: OrdersClient) => Promise<unknown>, RegExp] => [
      `a batch that is ${String(orders)}`,
      (client) => client.submitBatch(orders as never),
      /^orders must be a list of orders/,
    ],
  ),
  ['a receipt id that is missing', (client) => client.getReceipt(undefined as never), /^receiptId must be/],
  ['a wait above the maximum', (client) => client.submitOrder(ORDER, { wait: 31 }), /^wait must be/],
  ['a receipt id', (client) => client.getReceipt('../orders'), /^receiptId must be/],
  ['a webhook without a secret', (client) => client.sendWebhook(ORDER, { signingSecret: '' }), /^A webhook needs/],
])('an invalid value (%s) causes a TypeError, and nothing is sent', async (_, call, line) => {
  await using script = await startScript(accepted);
  await expect(call(script.client())).rejects.toThrow(line);
  expect(script.arrived).toEqual([]);
});

test.each(['', '/', '/delivery/api', '/delivery/api/', '/ingest', '/ingest/orders-of-a-shop'])(
  'routes are appended to the path "%s" of baseUrl',
  async (prefix) => {
    await using script = await startScript(accepted);
    await script.client({ baseUrl: script.url + prefix }).submitOrder(ORDER, { strict: true, wait: 2.5 });
    const [{ method, path, headers } = { method: '', path: '', headers: {} }] = script.arrived;
    expect(`${method} ${path}`).toBe(`POST ${prefix.replace(/\/$/, '')}/ingest/orders`);
    expect(headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      prefer: 'handling=strict, wait=3',
    });
    expect(headers).not.toHaveProperty('x-service-signature');
  },
);

test('a custom fetch replaces the one of the platform', async () => {
  const own: typeof fetch = async () => Response.json({ receipt_id: RECEIPT_ID }, { status: 202 });
  const client = new OrdersClient({ baseUrl: 'http://nowhere.invalid', apiKey: KEY, fetch: own });
  expect(await client.submitOrder(ORDER)).toEqual({ receipt_id: RECEIPT_ID });
});

test('what a call returned has the id of its request', async () => {
  await using script = await startScript(accepted);
  const reply = await script.client().submitOrder(ORDER);
  expect(requestIdOf(reply)).toBe(script.arrived[0]?.headers['x-request-id']);
  expect(requestIdOf({ ...reply })).toBeUndefined();
});
