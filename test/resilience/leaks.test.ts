import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCli } from '@orders/cli/run-cli.ts';
import { setSignedOnly, setSuspended } from '@orders/database/accounts/accounts.ts';
import { createKey, revokeKey } from '@orders/database/accounts/api-keys.ts';
import { rotateSigning } from '@orders/database/accounts/signing-secrets.ts';
import { sqlstateOf } from '@orders/database/database-errors.ts';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { pruneEvents, setEvents } from '@orders/database/events/event-logs.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { createApiKey } from '@orders/domain/api-key.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { REJECTIONS } from '@orders/domain/rejections.ts';
import type { Child } from '@orders/test-services/child.ts';
import { type FaultyRedis, startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { Redis } from 'ioredis';
import { hold, lockTables, whoWait } from '../harness/barriers.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startEventReceiver } from '../harness/event-receiver.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { sign } from '../harness/hashes.ts';
import {
  ALLOWED_COLUMNS,
  findMarkers,
  formsOf,
  type Markers,
  markedOrder,
  PERSONAL,
  STRICT_ORDER,
  VERBOSE_REJECTIONS,
} from '../harness/marked-order.ts';
import { startApp } from '../harness/processes.ts';
import { findProgram } from '../harness/programs.ts';
import { createTestSource } from '../harness/sources.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { readFiles, readRedis, readTables } from '../harness/stored.ts';

const SECRET = {
  'a key of no account': createApiKey(),
  'what is no key': 'no-key-Marker-5512',
  'credentials of another scheme': Buffer.from('zubayda:Marker-3381').toString('base64'),
  'a signature of another secret': sign('oss_other', 'Marker'),
  'what is no signature': 'no-signature-Marker-6642',
  'an idempotency key': 'idempotent-Marker-9913',
  'the password of Postgres': 'Postgres-Marker-1127',
  'the password of Redis': 'Redis-Marker-7719',
  'a wrong password': 'wrong-Marker-2218',
  'a wrong SECRETS_KEY': randomBytes(32).toString('base64'),
  'what is no SECRETS_KEY': 'no-secrets-key-Marker-4439',
  'the secret of a source': 'source-secret-Marker-8814',
  'the URL of an endpoint': 'endpoint-url-Marker-6127',
};

let postgres: FaultyPostgres;
let redis: FaultyRedis | null;
let stack: Stack;
const directory = makeDirectory();
const processes: Child[] = [];

beforeAll(async () => {
  postgres = await startFaultyPostgres();
  redis = findProgram('redis-server') ? await startFaultyRedis() : null;
  stack = await startStack(redis ? 'redis' : 'postgres', { database: postgres, ...(redis && { queue: redis }) });
});
afterAll(async () => {
  for (const child of processes) await child.stop('SIGKILL');
});

/** Everything that was sent or configured, all error replies, and the stderr of the operator's commands. */
const collected = { sent: '', refused: '', commands: '', events: '', metrics: '' };

const withPassword = (url: string, password: string, user?: string) => {
  const changed = new URL(url);
  if (user) changed.username = user;
  changed.password = password;
  return changed.href;
};

interface App {
  url: string;
  adminUrl: string;
  log: () => Promise<string>;
}

/** Starts an app of the stack with all log levels. */
async function start(
  app: 'intake' | 'worker' | 'notifier',
  name: string,
  settings: Record<string, string> = {},
): Promise<App> {
  const logFile = join(directory, name);
  const env = {
    ...stack.env,
    // Without a pooler, because it does not know this role.
    DATABASE_URL: withPassword(postgres.directUrl, SECRET['the password of Postgres'], 'door'),
    ...(redis && { QUEUE_URL: withPassword(redis.url, SECRET['the password of Redis']) }),
    RETRY_ATTEMPTS: '2',
    LOG_LEVEL: 'debug',
    ...settings,
  };
  collected.sent += JSON.stringify(env);
  const process = await startApp(app, env, { output: { file: logFile } });
  processes.push(process);
  const log = () => readFile(logFile, 'utf8');
  const [admin, port] = await until(`${name} has started, or ended`, async () => {
    const text = await log();
    const ports = [/admin_port"?[:=](\d+)/, /(?<!_)port"?[:=](\d+)/].map((port) => port.exec(text)?.[1]);
    return (ports[0] !== undefined || process.process.exitCode !== null) && ports;
  });
  return { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${admin}`, log };
}

type Headers = Record<string, string>;
/** A request without a reply says which one it is, before the test ends without a word. */
const REPLY_MS = 90_000;

async function send(app: App, method: string, path: string, headers: Headers = {}, body?: string | Buffer) {
  collected.sent += `${method} ${path} ${JSON.stringify(headers)}\n${body ?? ''}\n`;
  const signal = AbortSignal.timeout(REPLY_MS);
  const reply = await fetch(app.url + path, { method, headers, signal, ...(body !== undefined && { body }) }).catch(
    (error) => {
      throw new Error(`${method} ${path}: ${error.message}`, { cause: error });
    },
  );
  const text = await reply.text();
  if (reply.status >= 400) collected.refused += `${reply.status} ${JSON.stringify([...reply.headers])}\n${text}\n`;
  return { status: reply.status, body: JSON.parse(text) };
}

/** Headers that a client may send in addition. None of them may be repeated. */
const BESIDE = {
  'Content-Type': 'application/json',
  'X-Request-Id': PERSONAL.name,
  'User-Agent': PERSONAL.email,
  Referer: `http://shop.example/?to=${encodeURIComponent(PERSONAL.address)}`,
  Cookie: `phone=${PERSONAL.phone[1]}`,
};
const bearer = (key: string) => ({ ...BESIDE, Authorization: `Bearer ${key}` });
const signed = (key: string, signature: string) => ({ ...bearer(key), 'x-service-signature': `sha256=${signature}` });

/** Sends an order whose `source_order_id` begins with its expected outcome. @returns the receipt id. */
async function accept(app: App, account: TestAccount, fate: string): Promise<string> {
  const body = markedOrder(`${fate} ${PERSONAL.source_order_id}`);
  const reply = await send(app, 'POST', '/ingest/orders', bearer(account.key), body);
  expect(reply).toMatchObject({ status: 202 });
  return reply.body.receipt_id;
}

async function final(app: App, account: TestAccount, receiptId: string) {
  const headers = { ...bearer(account.key), Prefer: 'wait=30' };
  return (await send(app, 'GET', `/ingest/status/${receiptId}`, headers)).body;
}

/** The body of a cancellation with personal data in its reason. */
const cancellation = (source_order_id: string, rest = '') =>
  JSON.stringify({ source_order_id, reason: `${PERSONAL.name}, ${PERSONAL.address}, ${PERSONAL.phone[1]}${rest}` });

const cancel = (app: App, account: TestAccount, id: string, rest?: string) =>
  send(app, 'POST', '/ingest/orders/cancel', bearer(account.key), cancellation(id, rest));

/** Cancellations with each outcome, those that Postgres rejects with messages that contain their values, and one whose order is locked. */
async function cancelOrders(intake: App, account: TestAccount, sourceOrderId: string): Promise<void> {
  const { knex } = postgres;
  for (const id of ['order:23514', 'order:P0001', 'order:42501'])
    expect(await cancel(intake, account, `held ${id}`)).toMatchObject({ status: 500 });
  expect(await cancel(intake, account, sourceOrderId, ' review:23514')).toMatchObject({ status: 500 });
  const locked = await hold(knex, 'select from orders for update');
  expect(await cancel(intake, account, sourceOrderId)).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  await locked.release();
  const held = `held ${PERSONAL.source_order_id}`;
  for (const [id, outcome] of [
    [sourceOrderId, 'cancelled'],
    [held, 'held'],
  ])
    expect(await cancel(intake, account, id as string)).toMatchObject({ status: 200, body: { outcome } });
  expect((await final(intake, account, await accept(intake, account, 'held'))).order_state).toBe('cancelled');
  const { source_order_id: dispatched } = await final(intake, account, await accept(intake, account, 'dispatched'));
  await knex('orders')
    .where({ source_order_id: dispatched })
    .update({ review_state: 'confirmed', reviewed_at: new Date(0) });
  expect(await cancel(intake, account, dispatched)).toMatchObject({ body: { outcome: 'requested' } });
}

/** Events as JSON, without what they are allowed to contain. */
const withoutAllowed = (events: unknown) =>
  JSON.stringify(events, (member, value) => (['source_order_id', 'reason'].includes(member) ? undefined : value));

/** Reads all events, without what they are allowed to contain, and then with a cursor that has expired. */
async function readEvents(intake: App, account: TestAccount): Promise<void> {
  const types = new Set<string>();
  const read = (after: string) => send(intake, 'GET', `/ingest/events?limit=1000&after=${after}`, bearer(account.key));
  let after = '0';
  await until('each type of event of this test is published', async () => {
    const { body } = await read(after);
    after = body.next;
    for (const { type } of body.events) types.add(type);
    collected.events += withoutAllowed(body.events);
    return ['receipt.written', 'receipt.duplicate', 'receipt.dead', 'order.cancelled', 'order.cancel_requested'].every(
      (type) => types.has(type),
    );
  });
  const [oldest] = await postgres.knex('events').orderBy('sequence').limit(1);
  await postgres
    .knex('events')
    .where({ sequence: oldest.sequence })
    .update({ happened_at: new Date(0) });
  expect(await pruneEvents(postgres.db, 3_600_000, new AbortController().signal)).toBe(1);
  expect(await read('0')).toMatchObject({ status: 410, body: { code: 'cursor_expired' } });
}

/** Every rejection that a client alone can cause, each with all values that it could repeat. */
async function refuseAll(
  intake: App,
  account: TestAccount,
  others: Record<'suspended' | 'revoked' | 'plain' | 'reader' | 'elsewhere' | 'signedOnly' | 'moved', TestAccount>,
) {
  const body = markedOrder();
  const key = bearer(account.key);
  const post = (path: string, headers: Headers, sent: string | Buffer = body) =>
    send(intake, 'POST', path, headers, sent);
  await post('/ingest/orders', BESIDE);
  await post('/ingest/orders', { ...BESIDE, Authorization: `Basic ${SECRET['credentials of another scheme']}` });
  for (const wrong of [SECRET['a key of no account'], SECRET['what is no key'], others.revoked.key])
    await post('/ingest/orders', bearer(wrong));
  for (const { key: refused } of [others.suspended, others.reader, others.elsewhere, others.signedOnly, others.moved])
    await post('/ingest/orders', { ...bearer(refused), 'X-Forwarded-For': PERSONAL.email });
  await post('/ingest/webhook', signed(others.plain.key, SECRET['a signature of another secret']));
  await post('/ingest/webhook', key);
  for (const wrong of [SECRET['a signature of another secret'], SECRET['what is no signature']])
    await post('/ingest/webhook', signed(account.key, wrong));
  await post('/ingest/orders', { ...key, 'Content-Type': `text/plain; name="${PERSONAL.name}"` });
  await post('/ingest/orders', { ...key, 'Content-Encoding': PERSONAL.email });
  await post('/ingest/orders', { ...key, 'Idempotency-Key': `${SECRET['an idempotency key']} ${PERSONAL.name}` });
  await post('/ingest/orders', key, body + ' '.repeat(300_000));
  await post('/ingest/orders', { ...key, Prefer: 'handling=strict' }, STRICT_ORDER);
  const malformed = [body.slice(0, -1), `${body}${body}`, `[${body}]`, Buffer.from(`${body}\xff`, 'latin1')];
  await post('/ingest/webhook/cancel', signed(account.key, SECRET['a signature of another secret']));
  await post('/ingest/orders/cancel', key, cancellation(PERSONAL.source_order_id, '\0'));
  await post('/ingest/orders/cancel', key, `{"cancellations":[${cancellation(`\n${PERSONAL.source_order_id}`)}]}`);
  for (const path of ['/ingest/orders', '/ingest/preview', '/ingest/reconcile', '/ingest/orders/cancel']) {
    for (const wrong of malformed) await post(path, key, wrong);
    await post(path, key, markedOrder(`${PERSONAL.source_order_id}\n${PERSONAL.address}`));
  }
  await post('/ingest/orders/batch', key, `[${malformed[2]},${STRICT_ORDER},${malformed[0]}]`);
  const inLines = { ...key, 'Content-Type': 'application/x-ndjson', Prefer: 'handling=strict' };
  await post(
    '/ingest/orders/batch',
    inLines,
    Buffer.concat(malformed.flatMap((one) => [Buffer.from(one), Buffer.from('\n')])),
  );
  const address = encodeURIComponent(PERSONAL.address);
  await send(intake, 'GET', `/ingest/status/${address}?phone=${PERSONAL.phone[2]}`, key);
  const name = encodeURIComponent(PERSONAL.name);
  for (const query of [`after=${PERSONAL.phone[1]}${name}`, `limit=${name}`, `after=${PERSONAL.phone[2]}`])
    expect((await send(intake, 'GET', `/ingest/events?${query}`, key)).body.code).toBe('invalid_query');
  await send(intake, 'GET', '/ingest/events', bearer(others.plain.key));
  await send(intake, 'GET', `/${address}?key=${account.key}`);
  await send(intake, 'GET', `/docs/${address}.js?name=${encodeURIComponent(PERSONAL.name)}`);
  await send(intake, 'GET', `/%E0%A4%A${PERSONAL.email}`);
}

/** Deliveries to a source: accepted, without an order id, with a wrong proof, and one that Postgres rejects. */
async function deliverToSource(intake: App, source: Source): Promise<void> {
  const secret = SECRET['the secret of a source'];
  const deliver = (body: string | Buffer, headers: Headers, id = source.source_id) =>
    send(intake, 'POST', `/ingest/sources/${id}`, { ...BESIDE, ...headers }, body);
  const signatureOf = (body: string | Buffer) => ({ 'X-Signature': sign(secret, body) });
  const body = markedOrder('delivered');
  const { source_order_id: _, ...unmapped } = JSON.parse(body);
  for (const sent of [body, JSON.stringify(unmapped), body.slice(0, -1)])
    expect(await deliver(sent, signatureOf(sent))).toMatchObject({ status: 202 });
  for (const wrong of [secret, SECRET['a signature of another secret'], SECRET['what is no signature']])
    expect(await deliver(body, { 'X-Signature': wrong })).toMatchObject({ status: 401 });
  expect(await deliver(body, {})).toMatchObject({ status: 401 });
  expect(await deliver(body, signatureOf(body), `${source.source_id}x`)).toMatchObject({ status: 404 });
  const refused = markedOrder('body:42501');
  expect(await deliver(refused, signatureOf(refused))).toMatchObject({ status: 500 });
}

/** Requests that the HTTP parser of Node rejects. */
async function garble(intake: App, account: TestAccount): Promise<void> {
  const body = markedOrder();
  const head = `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\n`;
  for (const bytes of [
    `${body}\r\n\r\n`,
    `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    `${head}X-Order: ${body.repeat(50)}\r\n\r\n`,
  ]) {
    collected.sent += bytes;
    const socket = connect(Number(new URL(intake.url).port), '127.0.0.1');
    socket.write(bytes);
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    expect(String(answer)).toMatch(/^HTTP\/1\.1 4(00|31) /);
    collected.refused += answer;
    socket.destroy();
  }
}

/** With one slot and a rate limit: `overloaded`, `rate_limited`, and bodies that end early. */
async function overrun(smallIntake: App, account: TestAccount): Promise<void> {
  const body = markedOrder();
  const halves = [1, 2].map(() => {
    const socket = connect(Number(new URL(smallIntake.url).port), '127.0.0.1');
    socket.write(
      `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n${body}`,
    );
    return socket;
  });
  const locked = await lockTables(postgres.knex, 'receipts');
  const order = (id: string) => send(smallIntake, 'POST', '/ingest/orders', bearer(account.key), markedOrder(id));
  const both = [order('has the slot'), order('has none')];
  expect((await Promise.race(both)).body.code).toBe('overloaded');
  await locked.release();
  await Promise.all(both);
  for (const socket of halves) socket.destroy();
  await until('rate_limited', async () => {
    const reply = await send(smallIntake, 'POST', '/ingest/orders', bearer(account.key), `[${body}]`);
    return reply.body.code === 'rate_limited';
  });
}

/**
 * Failures after acceptance: orders that Postgres rejects with messages that contain their values.
 *
 * @returns the receipts that end `dead`.
 */
async function breakTheBackground(intake: App, worker: App, account: TestAccount): Promise<string[]> {
  const { knex } = postgres;
  const dead = ['order:23514', 'order:P0001', 'order:42501', 'unchecked', 'misread', 'order:23514:redrive:P0001'];
  const receiptIds = await Promise.all(dead.map((name) => accept(intake, account, name)));
  for (const receiptId of receiptIds) expect((await final(intake, account, receiptId)).status).toBe('dead');

  // The job of a failed batch is retried, and the queue stores the error with it.
  const meets = async (name: string, trigger: string) => {
    const failures = async () => (await worker.log()).split(/Postgres unavailable|batch failed/).length;
    const before = await failures();
    const receiptId = await accept(intake, account, name);
    await until(`${name} fails its batch`, async () => (await failures()) > before);
    // Dropping the trigger locks tables in another order, so it may be the victim of a deadlock.
    const isDropped = () =>
      knex.raw(trigger).then(
        () => true,
        (error) => {
          if (sqlstateOf(error) !== '40P01') throw error;
          return false;
        },
      );
    await until(`${name} is over`, isDropped);
    expect(await final(intake, account, receiptId)).toMatchObject({ status: 'written', attempts: 1 });
  };
  await meets('claim:42501', 'drop trigger refuse_claim on receipts');
  await meets('order:57014', 'drop trigger refuse on orders');
  return receiptIds;
}

/** A request to each kind of route. */
const routesOf = (account: TestAccount, intake: App) => [
  () => send(intake, 'POST', '/ingest/orders', bearer(account.key), markedOrder('outage')),
  () => send(intake, 'POST', '/ingest/preview', bearer(account.key), markedOrder('outage')),
  () => cancel(intake, account, `outage ${PERSONAL.source_order_id}`),
  () => send(intake, 'GET', '/ingest/status/01a1f9bd-9a17-7354-8023-e51a3a7d2f89', bearer(account.key)),
];

/** Cuts connections and kills Redis and Postgres during requests. */
async function breakTheServices(intake: App, worker: App, account: TestAccount): Promise<void> {
  const locked = await lockTables(postgres.knex, 'receipts');
  const cutOff = send(intake, 'POST', '/ingest/orders', bearer(account.key), markedOrder('cut off'));
  for (const backend of await whoWait(postgres.knex, 1, 'relation'))
    await postgres.knex.raw('select pg_terminate_backend(?)', [backend]);
  expect(await cutOff).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
  await locked.release();
  if (redis) {
    await redis.stop();
    const receiptId = await accept(intake, account, 'without Redis');
    await until('the outage of Redis is logged', async () => /queue unavailable/.test(await worker.log()));
    await redis.startEmpty();
    expect((await final(intake, account, receiptId)).status).toBe('written');
  }
  await postgres.kill();
  for (const ask of routesOf(account, intake)) expect(await ask()).toMatchObject({ status: 503 });
  for (const app of [intake, worker]) collected.refused += await visit(app, '/health/ready');
  await postgres.start();
}

async function visit(app: App, path: string): Promise<string> {
  return (await fetch(app.adminUrl + path)).text();
}

/** Processes with wrong addresses and keys. */
async function misconfigure(account: TestAccount): Promise<void> {
  const wrong = SECRET['a wrong password'];
  const wrongUrls = {
    DATABASE_URL: withPassword(postgres.directUrl, wrong, 'door'),
    ...(redis && { QUEUE_URL: withPassword(redis.url, wrong) }),
  };
  const [lockedOut, idle] = await Promise.all([
    start('intake', 'intake-locked-out', wrongUrls),
    start('worker', 'worker-locked-out', wrongUrls),
    start('intake', 'intake-with-unusable-address', { QUEUE_URL: `redis://:${wrong}@127.0.0.1:70000` }),
    start('intake', 'intake-with-wrong-secrets-key', { SECRETS_KEY: SECRET['what is no SECRETS_KEY'] }),
  ]);
  for (const ask of routesOf(account, lockedOut)) expect(await ask()).toMatchObject({ status: 503 });
  await until('it is locked out', async () => /rejects this role or its password/.test(await idle.log()));
}

/** Failing commands of the operator. */
async function failCommands(account: TestAccount, dead: string, orderId: string): Promise<void> {
  const right = {
    NODE_ENV: 'production',
    DATABASE_URL: postgres.directUrl,
    SECRETS_KEY: stack.env.SECRETS_KEY as string,
  };
  const wrong = SECRET['a wrong password'];
  const id = String(account.id);
  const address = (rest: string) => `postgres://door:it's-${wrong}@${rest}/orders`;
  const calls: [argv: string[], env?: Headers][] = [
    [['accounts', 'list'], { DATABASE_URL: withPassword(postgres.directUrl, wrong) }],
    [['accounts', 'list'], { DATABASE_URL: address('127.0.0.1:9') }],
    [['accounts', 'list'], { DATABASE_URL: address('127.0.0.1:70000') }],
    [['accounts', 'list'], { DATABASE_URL: `mysql://door:${wrong}@127.0.0.1/orders` }],
    [['migrate'], { QUEUE_URL: withPassword(postgres.directUrl, wrong) }],
    [['migrate'], { QUEUE_URL: `redis://:${wrong}@127.0.0.1:70000` }],
    [['signing', 'show', id], { SECRETS_KEY: SECRET['a wrong SECRETS_KEY'] }],
    [['signing', 'show', id], { SECRETS_KEY: SECRET['what is no SECRETS_KEY'] }],
    [['signing', 'show', account.key]],
    [['accounts', 'suspend', account.secret as string]],
    [['accounts', 'show', address('127.0.0.1')]],
    [['keys', 'revoke', account.key]],
    [['keys', account.key]],
    [[address('127.0.0.1')]],
    [['receipts', 'redrive', dead]],
    [['orders', 'confirm', orderId]],
  ];
  for (const [argv, env] of calls) {
    collected.sent += JSON.stringify([argv, env]);
    let stderrText = '';
    const stderr = { write: (text: string) => (stderrText += text) };
    const code = await runCli(argv, { stdout: stderr, stderr, env: { ...right, ...env }, localDirectory: directory });
    expect({ argv, code, stderrText }).toEqual({
      argv,
      code: expect.any(Number),
      stderrText: expect.stringMatching(/.\n$/),
    });
    expect(code).toBeGreaterThan(0);
    collected.commands += stderrText;
  }
}

/** Accounts with all kinds of credentials, and the values that must be nowhere. */
async function prepare() {
  const { knex } = postgres;
  await knex.raw(`create role door login superuser password '${SECRET['the password of Postgres']}'`);
  if (redis) {
    const admin = new Redis(redis.url);
    await admin.config('SET', 'requirepass', SECRET['the password of Redis']);
    await admin.quit();
  }
  await knex.raw(VERBOSE_REJECTIONS);
  const account = await stack.account({ signing: true });
  await setEvents(connectionOf(knex), account.id, true);
  const plain = await stack.account();
  const others = {
    suspended: await stack.account(),
    revoked: await stack.account(),
    plain,
    reader: { ...plain, key: (await createKey(connectionOf(knex), plain.id, 'reader', { scopes: ['read'] })).key },
    elsewhere: {
      ...plain,
      key: (await createKey(connectionOf(knex), plain.id, 'elsewhere', { addresses: ['203.0.113.7'] })).key,
    },
    signedOnly: await stack.account({ signing: true }),
    moved: await stack.account(),
  };
  await setSignedOnly(connectionOf(knex), others.signedOnly.id, true);
  await knex('accounts').where({ account_id: others.moved.id }).update({ moved_to: 'https://orders-2.example.com' });
  await setSuspended(connectionOf(knex), others.suspended.id, true);
  await revokeKey(connectionOf(knex), (await knex('api_keys').where({ account_id: others.revoked.id }).first()).key_id);
  const newer = await rotateSigning(connectionOf(knex), stack.secretsKey, account.id, 60_000);
  const source = await createTestSource(stack, account, 'custom', { secret: SECRET['the secret of a source'] });
  const receiver = await startEventReceiver();
  const url = `${receiver.url}?token=${SECRET['the URL of an endpoint']}`;
  const endpoint = await createEndpoint(connectionOf(knex), stack.secretsKey, {
    accountId: account.id,
    url,
    types: null,
  });
  collected.sent += JSON.stringify(endpoint);
  const body = markedOrder();
  const markers: Markers = {
    ...PERSONAL,
    ...SECRET,
    'the id of a source': source.source_id,
    'the secret of an endpoint': endpoint.secret,
    'a key': account.key,
    'a revoked key': others.revoked.key,
    'the key of a suspended account': others.suspended.key,
    'a key without the scope': others.reader.key,
    'a key for another address': others.elsewhere.key,
    'the key of a moved account': others.moved.key,
    'the key of an account without signing': others.plain.key,
    'a signing secret': account.secret as string,
    'the newer signing secret': newer?.secret as string,
    'a signature': sign(account.secret, body),
    'the signature by the newer secret': sign(newer?.secret as string, body),
    SECRETS_KEY: [stack.env.SECRETS_KEY as string, stack.secretsKey.toString('hex')],
  };
  return { account, others, newer, source, receiver, body, markers };
}

let prepared: Awaited<ReturnType<typeof prepare>>;
const apps = {} as Record<'intake' | 'smallIntake' | 'worker' | 'notifier', App>;
/** What later steps need of earlier ones: ids of an order, a receipt and a stored order. */
const left = { written: '', dead: '', reviewed: '' };

// Steps of one run, each with a time-out of its own; the last one looks for what has leaked.

test('the search finds each form of a value', async () => {
  prepared = await prepare();
  const { markers } = prepared;
  // The search must find each form of a value.
  for (const text of Object.values(markers).flat()) {
    for (const form of formsOf(text)) expect(findMarkers(`"${form}"`, { text })).toEqual(['text']);
  }
});

test('orders are accepted, replayed and written', async () => {
  const { knex } = postgres;
  const { account, others, newer, body } = prepared;
  const [intake, smallIntake] = await Promise.all([
    start('intake', 'intake'),
    start('intake', 'intake-narrow', { LOG_FORMAT: 'text', MAX_IN_FLIGHT: '1', RATE_LIMIT: '20/1m' }),
  ]);
  const keyed = { ...bearer(account.key), 'Idempotency-Key': SECRET['an idempotency key'] };
  const first = await send(intake, 'POST', '/ingest/orders', keyed, body);
  // Two receipts in states that no normal operation causes: one without a body, and one that crashed its workers.
  const [bodiless, killer] = [await accept(intake, account, 'bodiless'), await accept(intake, account, 'killer')];
  const batch = knex('receipts').where({ receipt_id: bodiless }).select('batch_id');
  await knex('receipt_payloads').whereIn('batch_id', batch).delete();
  await knex('receipts')
    .where({ receipt_id: killer })
    .update({ state: 'normalized', runs_alone: true, crashes: 3, lease_id: killer, lease_expires_at: new Date(0) });
  const worker = await start('worker', 'worker');
  Object.assign(apps, { intake, smallIntake, worker });
  const written = await final(intake, account, first.body.receipt_id);
  expect(written.status).toBe('written');
  left.written = written.source_order_id;
  await send(intake, 'POST', '/ingest/orders', keyed, markedOrder(PERSONAL.source_order_id, { total: 7 }));
  for (const secret of [account.secret, newer?.secret as string]) {
    const headers = { ...signed(account.key, sign(secret, body)), Prefer: 'wait=20' };
    expect(await send(intake, 'POST', '/ingest/webhook', headers, body)).toMatchObject({ status: 202 });
    await send(intake, 'PUT', `/ingest/webhook?secret=${secret}`, headers, body);
  }
  expect(await final(intake, account, bodiless)).toMatchObject({ error: { code: 'unexpected_error' } });
  expect(await final(intake, account, killer)).toMatchObject({ error: { code: 'worker_crashed' } });
  expect(await send(intake, 'GET', `/ingest/status/${killer}`, bearer(others.plain.key))).toMatchObject({
    status: 404,
  });
});

test('requests are refused in every way', async () => {
  const { intake, smallIntake } = apps;
  const { account, others, source } = prepared;
  await refuseAll(intake, account, others);
  await deliverToSource(intake, source);
  await cancelOrders(intake, account, left.written);
  await garble(intake, account);
  await overrun(smallIntake, account);
  for (const sqlstate of ['42501', '22023', '53100']) {
    const refused = await send(intake, 'POST', '/ingest/orders', bearer(account.key), markedOrder(`body:${sqlstate}`));
    expect(refused.status).toBeGreaterThanOrEqual(500);
  }
});

test('work fails after the acceptance, and events are told', async () => {
  const { knex } = postgres;
  const { intake, worker } = apps;
  const { account, receiver, body } = prepared;
  const dead = await breakTheBackground(intake, worker, account);
  await readEvents(intake, account);
  apps.notifier = await start('notifier', 'notifier', { CALLBACK_ALLOW: '127.0.0.1:*' });
  await until('events are delivered', async () => receiver.received.length > 3);
  receiver.respond((_received, response) => response.writeHead(410).end(body));
  await until('the endpoint is disabled', () => knex('endpoints').where({ disabled: 'gone' }).first());
  const reviewed = await final(intake, account, await accept(intake, account, 'review:P0001'));
  left.dead = dead.at(-1) as string;
  left.reviewed = String(reviewed.order_id);
});

test('apps and commands are configured wrongly', async () => {
  const { account } = prepared;
  await misconfigure(account);
  await failCommands(account, left.dead, left.reviewed);
});

test('Postgres and Redis are lost', async () => {
  const { intake, worker } = apps;
  const { account, receiver } = prepared;
  await breakTheServices(intake, worker, account);
  const last = await until('an order is accepted again', async () => {
    const reply = await send(intake, 'POST', '/ingest/orders', bearer(account.key), markedOrder('the last'));
    return reply.status === 202 && reply.body.receipt_id;
  });
  expect((await final(intake, account, last)).status).toBe('written');
  const metrics: string[] = [];
  for (const app of Object.values(apps)) metrics.push(await visit(app, '/metrics'));
  await Promise.all(processes.map((child) => child.stop()));
  await receiver.close();
  collected.metrics = metrics.join();
});

test('no log, error, metric, command output or job contains a secret, key, signature or personal data', async () => {
  const { knex } = postgres;
  const { markers, receiver } = prepared;
  const tables = await readTables(knex, ALLOWED_COLUMNS);
  const log = await readFiles(directory);
  const places: Record<string, string> = {
    'the logs': log,
    'the errors': collected.refused,
    'the complaints of the commands': collected.commands,
    'the metrics': collected.metrics,
    'the events': collected.events,
    'the deliveries': receiver.received.map(({ event, headers }) => withoutAllowed([event, headers])).join(),
    'the tables that are not for it': tables.rest,
    ...(redis && { 'the queue': await readRedis(redis.url), 'its files': await readFiles(redis.directory) }),
  };
  const leaks = Object.entries(places).flatMap(([place, text]) =>
    findMarkers(text, markers).map((marker) => `${marker} is in ${place}`),
  );
  expect(leaks).toEqual([]);

  // The values could have leaked: all were sent, those to be stored are stored, and every place has output.
  const sent = Object.keys(markers).filter((name) => redis || name !== 'the password of Redis');
  expect(findMarkers(collected.sent, markers)).toEqual(sent);
  const kept = (table: string) => findMarkers(tables.apart[table] ?? '', markers);
  expect(kept('orders')).toEqual(Object.keys(PERSONAL));
  for (const table of ['cancellation_requests', 'audit_events'])
    expect([table, ...kept(table)]).toEqual([table, 'name', 'phone', 'address']);
  expect(kept('events')).toEqual(['source_order_id', 'name', 'phone', 'address']);
  expect(kept('receipt_payloads')).toEqual(Object.keys(PERSONAL));
  expect(kept('receipts')).toEqual(['source_order_id', 'member']);
  expect(kept('idempotency_keys')).toEqual(['an idempotency key']);
  expect(Object.keys(PROBLEMS).filter((code) => !collected.refused.includes(`"code":"${code}"`))).toEqual([]);
  const rejected = await knex('rejected_deliveries').distinct('code').pluck('code');
  expect(new Set(rejected)).toEqual(new Set(Object.keys(REJECTIONS)));
  const events = [
    'receipt written',
    'receipt failed',
    'receipt dead',
    'workers crashed while processing it',
    'another payload',
    'draining',
    'endpoint disabled',
    'delivery attempted',
  ];
  const codes = ['23514', 'P0001', '42501', '22P02', '57014', '57P01', '53100', '28P01', 'ECONNREFUSED'];
  expect([...events, ...codes].filter((said) => !log.includes(said))).toEqual([]);
  if (redis) expect(places['its files']).toContain('the batch failed, see the worker log');
  for (const [place, text] of Object.entries(places))
    expect({ place, says: text.length > 500 }).toEqual({ place, says: true });
});
