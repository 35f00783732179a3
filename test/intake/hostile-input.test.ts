import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { type Api, openApi } from '../harness/api.ts';
import { type HostileRequest, hostileRequest, inChunks } from '../harness/arbitrary-request.ts';
import { sign } from '../harness/hashes.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { exchange, head, openRaw, type RawReply } from '../harness/raw-http.ts';
import { readGauge, readMetrics } from '../harness/read-metrics.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';
import { checkReply } from '../jest/openapi-check.ts';

/** `npm run test:full` sends 20,000. */
const COUNT = Number(process.env.RANDOM_REQUESTS ?? 1_000);
if (!Number.isSafeInteger(COUNT) || COUNT <= 0) throw new Error('RANDOM_REQUESTS takes a whole number above 0.');
/** Set RANDOM_SEED to repeat a failed run. */
const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 2 ** 31);

const { stack, knex, intake, account } = useStack({ queue: QUEUE_KIND, intake: true, account: true });

const stored = () => countStored(knex);

/** A handwritten request head for an order. */
const orderHead = (headers: [string, string | number][], key = account.key) =>
  head('POST /ingest/orders HTTP/1.1', [
    ['Host', 'x'],
    ['Authorization', `Bearer ${key}`],
    ['Content-Type', 'application/json'],
    ...headers,
  ]);

const outcome = (reply: RawReply | null) => `${reply?.status} ${reply?.body.code ?? ''}`.trim();

describe('JSON', () => {
  test('with duplicate members keeps the last one, in the receipt and in the order', async () => {
    const body = '{"source_order_id":"first","emirate":"Dubai","source_order_id":"last","emirate":"Sharjah"}';
    const preview = await intake.api.preview(account, body);
    expect(preview.body.normalized).toMatchObject({ source_order_id: 'last', emirate: 'Sharjah' });
    const accepted = await intake.api.order(account, body);
    const { body: receipt } = await intake.api.status(account, accepted.body.receipt_id);
    expect(receipt.source_order_id).toBe('last');
  });

  test.each([
    ['objects', '{"a":', '}'],
    ['lists', '[', ']'],
  ])('with %s is accepted at 64 levels of nesting and rejected at 65 and more', async (what, open, close) => {
    const nested = (levels: number) =>
      `{"source_order_id":"nested ${what}","x":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
    expect((await intake.api.order(account, nested(64))).status).toBe(202);
    expect((await intake.api.preview(account, nested(64))).status).toBe(200);
    const before = await stored();
    expect((await intake.api.order(account, nested(65))).body.code).toBe('malformed_body');
    const deepest = await intake.api.order(account, nested(Math.floor(260_000 / (open.length + close.length))));
    expect(deepest.body.code).toBe('malformed_body');
    expect(await stored()).toBe(before);
  });

  test.each([
    ['1e400', '1e400'],
    ['-1e400', '-1e400'],
    ['1e-400', '1e-400'],
    ['-0', '-0'],
    ['of 400 digits', '9'.repeat(400)],
    ['of 400 decimals', `0.${'9'.repeat(400)}`],
    ['of 400 digits in its exponent', `1e${'0'.repeat(399)}1`],
  ])('with the number %s is accepted in every place', async (what, number) => {
    const fields = ['order_number', 'address', 'emirate', 'area', 'total', 'currency', 'delivery_instructions', 'x'];
    const body = `{"source_order_id":"number ${what}",${fields.map((name) => `"${name}":${number}`)},
        "customer":{"name":${number},"phone":${number},"email":${number},"id":${number}},
        "items":[${number},{"name":${number},"quantity":${number},"sku":${number}}]}`;
    expect((await intake.api.preview(account, body)).status).toBe(200);
    expect((await intake.api.order(account, body)).status).toBe(202);
  });

  test.each([
    ['an overlong slash in two bytes', [0xc0, 0xaf]],
    ['an overlong slash in three', [0xe0, 0x80, 0xaf]],
    ['an overlong slash in four', [0xf0, 0x80, 0x80, 0xaf]],
    ['an overlong U+0000', [0xc0, 0x80]],
    ['a lone continuation byte', [0x80]],
    ['a sequence cut short after one byte', [0xe2]],
    ['a sequence cut short after two', [0xe2, 0x82]],
    ['a sequence cut short after three', [0xf0, 0x9f, 0x98]],
    ['surrogates encoded one by one (CESU-8)', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['the byte F5', [0xf5, 0x80, 0x80, 0x80]],
    ['the byte FE', [0xfe]],
    ['the byte FF', [0xff]],
  ])('with %s in a value or a name is rejected and stores nothing', async (_what, bytes) => {
    const before = await stored();
    for (const [start, end] of [
      ['{"source_order_id":"', '"}'],
      ['{"source_order_id":"utf-8","', '":1}'],
      ['{"source_order_id":"utf-8"}', ''],
    ]) {
      const body = Buffer.concat([Buffer.from(start ?? ''), Buffer.from(bytes), Buffer.from(end ?? '')]);
      expect((await intake.api.order(account, body)).body.code).toBe('malformed_body');
      expect((await intake.api.webhook(account, body)).body.code).toBe('malformed_body');
    }
    expect(await stored()).toBe(before);
  });

  test('in UTF-16 is rejected', async () => {
    const body = Buffer.from('\ufeff{"source_order_id":"utf-16"}', 'utf16le');
    expect((await intake.api.order(account, body)).body.code).toBe('malformed_body');
  });

  test('with a raw NUL is rejected, and with an escaped one is accepted except in source_order_id', async () => {
    const before = await stored();
    for (const body of ['{"source_order_id":"nul","area":"a\0b"}', '{"source_order_id":"nul"\0}', '\0', '{"a\0":1}'])
      expect((await intake.api.order(account, body)).body.code).toBe('malformed_body');
    expect(await stored()).toBe(before);
    const escaped = await intake.api.order(account, '{"source_order_id":"nul","area":"a\\u0000b","\\u0000":"\\u0000"}');
    expect(escaped.status).toBe(202);
  });

  test('with members called __proto__ and constructor is accepted and treats them as ordinary members', async () => {
    const trap = '{"polluted":true,"name":"inherited","phone":"0501234567","isAdmin":true}';
    const traps = `"__proto__":${trap},"constructor":{"prototype":${trap}},"toString":1,"hasOwnProperty":1,"length":-1`;
    const body = `{"source_order_id":"proto",${traps},"customer":{${traps}},"items":[{${traps}}],"address":{${traps}}}`;
    const { body: preview } = await intake.api.preview(account, body);
    expect(preview.normalized.customer).toEqual({ name: null, phone: null, email: null, id: null });
    const accepted = await intake.api.order(account, body, { 'Idempotency-Key': 'proto' });
    expect(accepted.status).toBe(202);
    expect((await intake.api.order(account, body, { 'Idempotency-Key': 'proto' })).body).toEqual({
      receipt_id: accepted.body.receipt_id,
      duplicate: true,
    });
    expect('polluted' in {}).toBe(false);
    expect(typeof {}.toString).toBe('function');
    expect((await intake.api.order(account, `{"__proto__":{"source_order_id":"inherited"}}`)).status).toBe(422);
  });
});

describe('the length of a body', () => {
  const order = '{"source_order_id":"length"}';

  test('longer than the body causes 408 if the sender waits and 400 if it closes, and stores nothing', async () => {
    const before = await stored();
    const longer = orderHead([['Content-Length', order.length + 1]]);
    const impatient = await stack.intake({ REQUEST_TIMEOUT: '1s' });
    expect((await exchange(impatient.api.url, longer, order))?.status).toBe(408);
    await impatient.close();
    const ended = openRaw(intake.api.url);
    ended.socket.end(Buffer.concat([longer, Buffer.from(order)]));
    expect((await ended.reply())?.status).toBe(400);
    expect(await stored()).toBe(before);
  });

  test('that cuts the order causes malformed_body and stores nothing', async () => {
    const before = await stored();
    const reply = await exchange(intake.api.url, orderHead([['Content-Length', order.length - 1]]), order);
    expect(outcome(reply)).toBe('400 malformed_body');
    expect(await stored()).toBe(before);
  });

  test('that cuts only bytes after the order is accepted', async () => {
    const before = await stored();
    const reply = await exchange(intake.api.url, orderHead([['Content-Length', order.length]]), `${order} and more`);
    expect(reply?.status).toBe(202);
    expect(await stored()).toBe(before + 3);
    expect((await intake.api.status(account, reply?.body.receipt_id)).status).toBe(200);
  });

  test.each([
    ['twice with different values', ['28', '29']],
    ['twice in one header', ['28, 28']],
    ['as a number of 30 digits', ['9'.repeat(30)]],
    ['as a negative number', ['-1']],
    ['in hex', ['0x1c']],
    ['as an empty value', ['']],
  ])('announced %s causes the plain 400 of the HTTP parser and stores nothing', async (_what, lengths) => {
    const before = await stored();
    const headers = lengths.map((length): [string, string] => ['Content-Length', length]);
    const reply = await exchange(intake.api.url, orderHead(headers), order);
    expect(outcome(reply)).toBe('400');
    expect(await stored()).toBe(before);
  });

  const chunked = (...headers: [string, string][]) => orderHead([['Transfer-Encoding', 'chunked'], ...headers]);

  test.each([
    ['of one byte', inChunks(Buffer.from(order), 1)],
    ['with extensions', Buffer.from(`1c;name=value\r\n${order}\r\n0\r\n\r\n`)],
    ['with a trailer that changes nothing', Buffer.from(`1C\r\n${order}\r\n0\r\nIdempotency-Key: not ok\r\n\r\n`)],
  ])('is not needed for chunks %s', async (_what, chunks) => {
    expect((await exchange(intake.api.url, chunked(), chunks))?.status).toBe(202);
  });

  test('above the limit in chunks causes payload_too_large', async () => {
    const reply = await exchange(intake.api.url, chunked(), inChunks(Buffer.alloc(300_000, ' '), 1000));
    expect(outcome(reply)).toBe('413 payload_too_large');
  });

  test.each([
    ['without a valid size', `zz\r\n${order}\r\n0\r\n\r\n`],
    ['of a negative size', `-1\r\n${order}\r\n0\r\n\r\n`],
    ['of a size above any integer', `${'f'.repeat(17)}\r\n${order}\r\n0\r\n\r\n`],
    ['longer than announced', `1\r\n${order}\r\n0\r\n\r\n`],
    ['with an endless extension', `1c;${'x'.repeat(20_000)}\r\n${order}\r\n0\r\n\r\n`],
  ])('in chunks %s causes a plain 4xx reply and stores nothing', async (_what, chunks) => {
    const before = await stored();
    expect(outcome(await exchange(intake.api.url, chunked(), chunks))).toMatch(/^4(00|13)$/);
    expect(await stored()).toBe(before);
  });
});

describe('header injection', () => {
  const body = '{"source_order_id":"header"}';
  const withHeader = (name: string, value: string) =>
    exchange(
      intake.api.url,
      orderHead([
        ['Content-Length', body.length],
        [name, value],
      ]),
      body,
    );

  test.each(['X-Request-Id', 'Idempotency-Key', 'Prefer', 'x-service-signature'])(
    'is not possible through %s',
    async (name) => {
      for (const lineEnd of ['\r\n', '\n', '\r', '%0d%0a', '\\r\\n', '\u0085', '\u000b']) {
        const reply = await withHeader(name, `a${lineEnd}X-Injected: 1`);
        expect(reply?.headers).not.toHaveProperty('x-injected');
        expect(reply?.headers['x-request-id'] ?? '').not.toMatch(/injected/i);
        expect(reply?.status).toBeLessThan(500);
      }
    },
  );

  test.each([
    '/ingest/status/a%0d%0aX-Injected:1',
    '/%0d%0aX-Injected:1',
    '/ingest/orders%0d%0a',
    '/ingest/status/%00',
  ])('is not possible through the path %s', async (path) => {
    const authorization: [string, string] = ['Authorization', `Bearer ${account.key}`];
    const reply = await exchange(intake.api.url, head(`GET ${path} HTTP/1.1`, [['Host', 'x'], authorization]));
    expect(reply?.status).toBe(404);
    expect(JSON.stringify(reply)).not.toMatch(/injected/i);
  });

  test.each(['/a b', '/a\0', '\r', ''])(
    'is not possible through the request target %j, which gets a plain 400',
    async (path) => {
      const reply = await exchange(intake.api.url, head(`GET ${path} HTTP/1.1`, [['Host', 'x']]));
      expect(outcome(reply)).toBe('400');
      expect(reply?.headers).not.toHaveProperty('x-injected');
    },
  );

  test.each([
    'http://[',
    'http://[::/',
    'http://a:99999999/none',
    'http:',
    'a:b',
    '*',
    '//',
    '/\u00a0',
    'http://x/none',
    'foo://x?y',
  ])('is not possible through the request target %j, which gets not_found', async (path) => {
    const method = path === '*' ? 'OPTIONS' : 'GET';
    const reply = await exchange(intake.api.url, head(`${method} ${path} HTTP/1.1`, [['Host', 'x']]));
    expect(outcome(reply)).toMatch(/^(404 not_found|400)$/);
  });
});

describe('a key or a signature of the wrong length or alphabet', () => {
  const body = '{"source_order_id":"wrong"}';
  const long = 'a'.repeat(10_000);
  const sendWebhook = (...signatures: string[]) =>
    exchange(
      intake.api.url,
      head('POST /ingest/webhook HTTP/1.1', [
        ['Host', 'x'],
        ['Authorization', `Bearer ${account.key}`],
        ['Content-Type', 'application/json'],
        ['Content-Length', body.length],
        ...signatures.map((signature): [string, string] => ['x-service-signature', signature]),
      ]),
      body,
    );

  test.each([
    ['empty', ''],
    ['one character', 'a'],
    ['of our prefix alone', 'oik_'],
    ['10 kB long', `oik_${long}`],
    ['not ASCII', 'oik_schl\u00fcssel'],
    ['of bytes that are no UTF-8', 'oik_\u00ff\u00fe\u0080'],
    ['of other signs', `oik_${'-'.repeat(49)}`],
  ])('a key (%s) is rejected as unknown or missing', async (_what, key) => {
    const reply = await exchange(intake.api.url, orderHead([['Content-Length', body.length]], key), body);
    expect(outcome(reply)).toMatch(/^401 (invalid|missing)_api_key$/);
  });

  test('the right key with extra characters or in another case causes invalid_api_key', async () => {
    const { key } = account;
    for (const wrong of [`${key}a`, `a${key}`, key.slice(0, -1), key.toUpperCase(), `${key}\u00e9`, `${key},${key}`]) {
      const reply = await exchange(intake.api.url, orderHead([['Content-Length', body.length]], wrong), body);
      expect(outcome(reply)).toBe('401 invalid_api_key');
    }
  });

  test.each([
    ['empty', () => ''],
    ['of the prefix alone', () => 'sha256='],
    ['of one digit', () => 'a'],
    ['of an odd number of digits', (right: string) => right.slice(1)],
    ['of one digit more', (right: string) => `${right}0`],
    ['10 kB long', () => `sha256=${long}`],
    ['not ASCII', (right: string) => right.replace(/.$/, '\u00e9')],
    ['with the prefix twice', (right: string) => `sha256=sha256=${right}`],
    ['twice in one', (right: string) => `${right},${right}`],
    ['in base64', (right: string) => Buffer.from(right, 'hex').toString('base64')],
  ])('a signature (%s) causes invalid_signature', async (_what, wrong) => {
    const before = await stored();
    expect(outcome(await sendWebhook(wrong(sign(account.secret, body))))).toBe('401 invalid_signature');
    expect(await stored()).toBe(before);
  });

  test('the right signature in two headers causes invalid_signature', async () => {
    const right = sign(account.secret, body);
    expect(outcome(await sendWebhook(right, right))).toBe('401 invalid_signature');
  });

  test.each([
    ['empty', ''],
    ['not ASCII', 'a\u00e9'],
    ['of bytes that are no UTF-8', '\u00ff'],
    ['with a tab', 'a\tb'],
    ['10 kB long', 'k'.repeat(10_000)],
  ])('an Idempotency-Key (%s) causes invalid_idempotency_key and stores nothing', async (_what, key) => {
    const before = await stored();
    const headers: [string, string | number][] = [
      ['Content-Length', body.length],
      ['Idempotency-Key', key],
    ];
    expect(outcome(await exchange(intake.api.url, orderHead(headers), body))).toBe('400 invalid_idempotency_key');
    expect(await stored()).toBe(before);
  });

  test('two Idempotency-Key headers cause invalid_idempotency_key', async () => {
    const headers: [string, string | number][] = [
      ['Content-Length', body.length],
      ['Idempotency-Key', 'a'],
      ['Idempotency-Key', 'a'],
    ];
    expect(outcome(await exchange(intake.api.url, orderHead(headers), body))).toBe('400 invalid_idempotency_key');
  });
});

describe('an intake process under hostile load', () => {
  let child: Child;
  let api: Api;
  let adminUrl: string;
  let printed = '';

  beforeAll(async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    // A separate process, so that the test sees its memory, its exit, and the errors and warnings that it prints.
    child = await startApp(
      'intake',
      { ...stack.env, PORT: String(port), ADMIN_PORT: String(adminPort), REQUEST_TIMEOUT: '10m' },
      { output: 'pipe' },
    );
    for (const stream of [child.process.stdout, child.process.stderr]) stream?.on('data', (text) => (printed += text));
    const url = `http://127.0.0.1:${port}`;
    api = await until('it answers', () => openApi(url).catch(() => null));
    adminUrl = `http://127.0.0.1:${adminPort}`;
  });
  afterAll(async () => {
    await child.stop();
    expect({ exitCode: child.process.exitCode, printed }).toEqual({ exitCode: 0, printed: '' });
  });

  async function megabytesHeld(): Promise<number> {
    return (await readGauge(adminUrl, 'process_resident_memory_bytes')) / 2 ** 20;
  }

  test.each(['keep-alive', 'close'])(
    'rejects 50 MB of white space with 413 without buffering it (Connection: %s)',
    async (connection) => {
      const before = await megabytesHeld();
      const megabyte = Buffer.alloc(2 ** 20, ' ');
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')]);
      const announced: [string, number] = ['Content-Length', 50 * megabyte.length + 1];
      const chunked: [string, string] = ['Transfer-Encoding', 'chunked'];
      const senders = [announced, chunked, announced, chunked, announced, chunked].map((framing) => {
        const sender = openRaw(api.url);
        sender.socket.write(orderHead([framing, ['Connection', connection]]));
        return {
          ...sender,
          part: framing === chunked ? chunk : megabyte,
          end: framing === chunked ? '0\r\n\r\n' : ' ',
        };
      });
      const sendAll = async ({ socket, part, closed }: (typeof senders)[number]) => {
        for (let sent = 0; sent < 50; sent++) {
          if (!socket.write(part)) await Promise.race([once(socket, 'drain'), closed]);
        }
      };
      await Promise.all(senders.map(sendAll));
      expect((await megabytesHeld()) - before).toBeLessThan(150);
      for (const { socket, end } of senders) socket.write(end);
      const replies = await Promise.all(senders.map(({ reply }) => reply()));
      expect(replies.map(outcome)).toEqual(Array(6).fill('413 payload_too_large'));
      if (connection === 'keep-alive') for (const { socket } of senders) socket.end();
      expect(await Promise.all(senders.map(({ closed }) => closed))).toEqual(Array(6).fill(null));
    },
  );

  test('accepts an order while other connections pipeline thousands of requests without a key', async () => {
    const answered = async () => {
      const requests = (await readMetrics(adminUrl)).get('intake_requests_total')?.samples ?? [];
      return requests.reduce((sum, { labels, value }) => sum + (labels.status === '401' ? value : 0), 0);
    };
    const before = await answered();
    const flood = Array.from({ length: 20 }, () => openRaw(api.url));
    for (const { socket } of flood) socket.write('GET /ingest/status/x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
    expect((await api.order(account, { source_order_id: 'beside a flood' })).status).toBe(202);
    await Promise.all(flood.map(({ closed }) => closed));
    expect((await answered()) - before).toBeLessThan(1000);
  });

  test('accepts an order although more connections than allowed have sent half a head', async () => {
    const bounded = await stack.intake({ MAX_CONNECTIONS: '20' });
    const silent = Array.from({ length: 100 }, () => openRaw(bounded.api.url));
    for (const { socket } of silent) socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    // As many as are allowed stay open: the others were closed.
    await until('the server has seen them all', async () => {
      return (await readGauge(bounded.adminUrl, 'intake_dropped_connections_total')) >= 80;
    });
    expect((await bounded.api.order(account, { source_order_id: 'beside half heads' })).status).toBe(202);
    for (const { socket } of silent) socket.destroy();
    await bounded.close();
  });

  test('replies to as many pipelined requests as are allowed, and Node prints no warning', async () => {
    const connection = openRaw(api.url);
    const body = '{"source_order_id":"one after the other"}';
    const one = Buffer.concat([orderHead([['Content-Length', body.length]]), Buffer.from(body)]);
    connection.socket.write(Buffer.concat(Array(8).fill(one)));
    for (let received = 0; received < 8; received++) expect((await connection.reply())?.status).toBe(202);
    connection.socket.destroy();
    expect(printed).toBe('');
  });

  test(
    `${COUNT} random requests (RANDOM_SEED=${SEED}): each gets a reply below 500, stores an order whole or not at all, and is processed`,
    async () => {
      const accepted = new Map<string, string>();
      const memoryBefore = await megabytesHeld();
      let before = await stored();

      async function send(request: HostileRequest): Promise<void> {
        const reply = await exchange(intake.api.url, request.bytes);
        const after = await stored();
        const added = after - before;
        before = after;
        if (!reply) throw new Error('no reply');
        expectSound(request, reply);
        const isNew = reply.status === 202 && !reply.body.duplicate;
        const keptAs: string | undefined = reply.body?.kept_as;
        // Receipt, body, outbox row and the idempotency key if there was one. A kept delivery has a key and is stored once.
        expect(isNew ? [3, 4] : keptAs ? [0, 3, 4] : [0]).toContain(added);
        if (added === 0) return;
        expect(JSON.parse(utf8.decode(request.body)).source_order_id).toEqual(expect.any(String));
        accepted.set(keptAs ?? reply.body.receipt_id, digest(request.body));
      }

      await fc.assert(fc.asyncProperty(hostileRequest(account), send), { numRuns: COUNT, seed: SEED });

      expect(accepted.size).toBeGreaterThan(COUNT / 20);
      const { rows } = await knex.raw(
        `select receipt_id, encode(sha256(substring(p.bodies from r.body_start for r.body_length)), 'hex') as digest
         from receipts r join receipt_payloads p using (batch_id, account_id) where receipt_id = any(?)`,
        [[...accepted.keys()]],
      );
      const found = new Map(rows.map((row: Record<string, string>) => [row.receipt_id, row.digest]));
      expect(found).toEqual(accepted);
      expect({ exitCode: child.process.exitCode, printed }).toEqual({ exitCode: null, printed: '' });
      expect((await megabytesHeld()) - memoryBefore).toBeLessThan(300);

      const worker = await stack.worker();
      const good = await api.order(account, { source_order_id: 'good', emirate: 'Dubai' }, { Prefer: 'wait=30' });
      expect(good.body).toMatchObject({ status: 'written' });
      await until('all are processed', async () => (await knex('outbox').first()) === undefined);
      const receipts = knex('receipts').distinct('state');
      const isKept = (receipts: Knex.QueryBuilder) => receipts.where({ error_code: 'idempotency_key_reused' });
      expect(await isKept(receipts.clone()).pluck('state')).toEqual(['dead']);
      const others = receipts.clone().whereNull('error_code').orderBy('state').pluck('state');
      expect(await others).toEqual(['duplicate', 'written']);
      await worker.close();
    },
    // As long as any other test may take, and more if there are more of them.
    240_000 + COUNT * 30,
  );

  function expectSound(request: HostileRequest, reply: RawReply): void {
    expect(reply.headers).not.toHaveProperty('x-injected');
    if (request.isForged) expect(reply.status).not.toBe(202);
    // Node itself replies to requests that never reach the application.
    if (!('x-request-id' in reply.headers)) expect([400, 413, 417, 431, 501, 505]).toContain(reply.status);
    else {
      expect(reply.status).toBeLessThan(500);
      checkReply(request.method, request.target.replace(/[?#].*/s, ''), reply);
    }
  }

  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const digest = (body: Buffer) => createHash('sha256').update(body).digest('hex');
});
