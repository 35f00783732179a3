import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import type { Reply } from '../harness/api.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import {
  below,
  createPerson,
  openPortalClient,
  type PortalClient,
  type ShopClient,
  signIn,
  type TestPerson,
} from '../harness/people.ts';
import { startApp } from '../harness/processes.ts';
import type { RunningPortal } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

/** The heap limit of Node, half of that in a pod. */
const HEAP = '--max-old-space-size=256';
/** In MiB: twice the heap, and two hashes of passwords, 128 each. */
const MAX_MEMORY_MIB = 768;
/** The maximum length of a JSON reply in characters. */
const MAX_REPLY = 2 ** 21;
const AT_ONCE = 16;
const DEAD = 20;

/** The max number of items that an earlier version accepted: an empty item takes two bytes of the body and fifty in the database. */
const ITEMS = 87_000;
const LONG_ORDER = `{"source_order_id":"ID","items":[${Array.from({ length: ITEMS }, () => '{}').join(',')}]}`;

const ORDERS = 24;
const LONG_EVENTS = 6;
const EMPTY_ITEM = `'{"name": null, "quantity": null, "sku": null}'::jsonb`;
const warnings = (pointer: string) => `
  (select jsonb_agg(jsonb_build_object('pointer', ${pointer} || n || repeat('p', 250), 'code', 'unknown_field',
                                       'detail', repeat('d', 100))) from generate_series(1, 1000) n)`;

type Ask = (index: number) => Promise<Reply>;
let portal: Child;
let url: string;
let hostile: ShopClient;
let person: TestPerson;
let otherClient: ShopClient;
let operator: PortalClient;
/** Orders and receipts of the hostile account. The orders were written before the limit of items. */
let orders: number[];
let receipts: string[];
let cookie = '';

const { stack, knex, account } = useStack({ account: true });

beforeAll(async () => {
  const [intake, worker] = await Promise.all([stack.intake(), stack.worker({ RETRY_ATTEMPTS: '1' })]);
  const other = await stack.account();

  await poisonOrders(knex);
  const lines = Array.from({ length: DEAD }, (_, n) => LONG_ORDER.replace('"ID"', `"${n}","order_number":"poison"`));
  const { body } = await intake.api.batch(account, Buffer.from(lines.join('\n')));
  receipts = body.results.map(({ receipt_id }: { receipt_id: string }) => receipt_id);
  for (const id of receipts) expect((await intake.api.final(account, id)).body.status).toBe('dead');
  await stopPoisoning(knex);
  const sent = await intake.api.order(other, { source_order_id: 'other' });
  expect((await intake.api.final(other, sent.body.receipt_id)).body.status).toBe('written');
  await Promise.all([intake.close(), worker.close()]);
  orders = await insertLongest(knex, account.id, receipts[0] as string);

  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = {
    ...stack.env,
    DATABASE_URL: stack.database.urlOf?.('portal') ?? stack.database.url,
    NODE_OPTIONS: HEAP,
    PORT: String(port),
    ADMIN_PORT: '0',
    PORTAL_URL: url,
    OPERATOR_SECOND_FACTOR: 'optional',
    INTAKE_URL: 'http://127.0.0.1:9',
  };
  // Not to the stderr of this process, because Jest would mistake an exhausted heap for its own.
  portal = await startApp('portal', env, { output: 'pipe' });
  for (const output of [portal.process.stdout, portal.process.stderr]) output?.resume();
  const isUp = () => fetch(url).then(({ ok }) => ok);
  await until('the portal answers', () => isUp().catch(() => false));
  const running = { url } as RunningPortal;
  person = await createPerson(stack, account.id);
  hostile = below(await signIn(running, person), account.id);
  otherClient = below(await signIn(running, await createPerson(stack, other.id)), other.id);
  operator = await signIn(running, await createPerson(stack, null));
  const { email, password } = person;
  const { headers } = await openPortalClient(running).post('/session', { email, password });
  cookie = String(headers['set-cookie']).split(';')[0] as string;
});

/** Sends many requests at once and expects no reply longer than `MAX_REPLY`. @returns the statuses. */
async function flood(ask: Ask, count = AT_ONCE): Promise<number[]> {
  const replies = await Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
  for (const { body } of replies) expect(JSON.stringify(body).length).toBeLessThan(MAX_REPLY);
  return [...new Set(replies.map(({ status }) => status))];
}

/** Expects that the portal still runs and shows another account its order. */
async function expectWell(): Promise<void> {
  expect([portal.process.exitCode, portal.process.signalCode]).toEqual([null, null]);
  const { status, body } = await otherClient.get('/orders');
  expect([status, body.orders]).toEqual([200, [expect.objectContaining({ source_order_id: 'other' })]]);
}

/** Expects that at least one request succeeds and that the others get 429 or 503. */
async function expectAnswered(...asks: Ask[]): Promise<void> {
  for (const ask of asks) {
    const statuses = await flood(ask);
    expect(statuses).toContain(200);
    expect([200, 429, 503]).toEqual(expect.arrayContaining(statuses));
  }
  await expectWell();
}

const orderOf = (index: number) => `/orders/${orders[index % orders.length]}`;
const receiptOf = (index: number) => `/receipts/${receipts[index % receipts.length]}`;
const ofHostile =
  (path: string): Ask =>
  () =>
    hostile.get(path);
const ofOperator =
  (path: string): Ask =>
  () =>
    operator.get(`/operator${path}`);

/** The requests that took most memory. They run with every test run. */
const LARGEST: [what: string, ask: Ask][] = [
  ['the longest pages of the list of orders', ofHostile('/orders?limit=200&severity=blocks')],
  ['an order with a long history', () => hostile.get(orderOf(0))],
  ['dead receipts', ofHostile('/receipts?limit=100&state=dead')],
  ['one receipt', (index) => hostile.get(receiptOf(index))],
  ['the audit log', ofHostile('/audit')],
  ['exports of orders', () => hostile.post('/orders/export', { order_ids: orders, format: 'json' })],
];
/** These run with `npm run test:full`. */
const OTHERS: [what: string, ask: Ask][] = [
  ['the list of orders', ofHostile('/orders')],
  ['a search of orders', ofHostile(`/orders?limit=200&q=${encodeURIComponent('ع'.repeat(100))}`)],
  ['new orders', ofHostile('/orders/updates?after=0')],
  ['one order', (index) => hostile.get(orderOf(index + 1))],
  ['receipts', ofHostile('/receipts?limit=100')],
  ['a search of receipts', ofHostile('/receipts/search?q=1')],
  ['the audit log of all accounts', ofOperator('/audit')],
  ['rejected deliveries', ofHostile('/rejected-deliveries')],
  ['users', ofOperator('/users')],
  ['accounts', ofOperator('/accounts')],
  ['the overview', ofHostile('/overview?range=month')],
  ['the overview for reviewers', ofHostile('/overview/review')],
];

test.each(process.env.TEST_FULL === 'on' ? [...LARGEST, ...OTHERS] : LARGEST)('%s', (_, ask) => expectAnswered(ask));

test('edits of orders', async () => {
  const items = Array.from({ length: 1000 }, () => ({ name: 'x'.repeat(30) }));
  // All of them in memory at once would exceed the heap.
  expect(await flood((index) => hostile.patch(orderOf(index), { edits: { '/area': `${index}` } }), 64)).toEqual([200]);
  await expectAnswered((index) => hostile.patch(orderOf(index), { edits: { '/items': items } }));
});

test('orders confirmed and undone together', async () => {
  await expectAnswered(
    () => hostile.post('/orders/review', { order_ids: orders, to: 'confirmed' }),
    () => hostile.post('/orders/review/undo', { order_ids: orders }),
  );
});

test('dead receipts previewed and redriven', async () => {
  await expectAnswered(
    (index) => hostile.post(`${receiptOf(index)}/redrive-preview`),
    () => hostile.post('/dead-letters/redrive-preview', {}),
    () => hostile.post('/dead-letters/redrive', {}),
  );
});

test('bodies of many small parts, with and without a session', async () => {
  const client = openPortalClient({ url } as RunningPortal);
  const parts = { parts: Array.from({ length: 21_000 }, () => []) };
  expect(await flood(() => client.post('/operator/users', parts), 100)).toEqual([401]);
  expect(await flood(() => client.post('/session', parts), 100)).toEqual([413]);
  expect(await flood(() => hostile.post('/orders/review', parts), 100)).toEqual([422]);
  expect(await flood(() => hostile.patch(orderOf(1), { edits: parts }), 50)).toEqual([422]);
  await expectWell();
});

/** A connection of the hostile account that reads no replies. */
async function openUnread(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  socket.pause().write(text);
  return socket;
}

/** The bytes of a request of the hostile account. */
function asText(method: string, path: string, body = ''): string {
  const head = [
    `${method} /api/accounts/${account.id}${path} HTTP/1.1`,
    'Host: x',
    `Cookie: ${cookie}`,
    `Origin: ${url}`,
  ];
  const lines = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

test('replies that nobody reads use only the memory share of their account, until their connections end', async () => {
  const longest = orderOf(orders.length - 1);
  const sockets = await Promise.all(Array.from({ length: 32 }, () => openUnread('')));
  const statusOf = async () => (await hostile.get(longest)).status;
  // The first replies of each connection fit into kernel buffers. Each awaited reply comes after all earlier ones.
  await until('the account has no memory left', async () => {
    for (const socket of sockets) socket.write(asText('GET', longest));
    return (await statusOf()) === 503;
  });
  await expectWell();
  for (const socket of sockets) socket.destroy();
  await until('the account has memory again', async () => (await statusOf()) === 200);
});

const closed = (socket: Socket) => socket.closed || new Promise((resolve) => socket.resume().once('close', resolve));

test('a connection that sends many requests without reading replies is closed', async () => {
  const text = asText('GET', orderOf(0)).repeat(20_000);
  const sockets = await Promise.all(Array.from({ length: AT_ONCE }, () => openUnread(text)));
  await Promise.all(sockets.map((socket) => closed(socket)));
  await expectWell();
});

test('requests of disconnected clients stop waiting and release their memory', async () => {
  const longest = { account_id: account.id, order_id: orders.at(-1) as number };
  const path = orderOf(orders.length - 1);
  const countEdits = async () =>
    (await knex('audit_events').where({ subject: `order:${longest.order_id}`, actor: person.email })).length;
  for (let round = 0; round < 8; round += 1) {
    await knex.transaction(async (trx) => {
      await trx('orders').where(longest).forUpdate().select('order_id');
      const edit = asText('PATCH', path, JSON.stringify({ edits: { '/area': `${round}` } }));
      const sockets = await Promise.all(Array.from({ length: 20 }, () => openUnread(edit)));
      // These requests come after the edits and use another queue.
      await Promise.all(Array.from({ length: AT_ONCE }, () => hostile.get('/keys')));
      for (const socket of sockets) socket.destroy();
      await hostile.get('/keys');
    });
  }
  expect((await hostile.get(path)).status).toBe(200);
  // The started ones of the 20 in each round wait for the lock.
  expect(await countEdits()).toBeGreaterThan(0);
  expect(await countEdits()).toBeLessThan(80);
  await expectWell();
});

test('all of these attacks took no more memory than a pod has', async () => {
  await expectWell();
  const status = await readFile(`/proc/${portal.pid}/status`, 'utf8').catch(() => '');
  const peakMiB = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  expect(peakMiB).toBeLessThan(MAX_MEMORY_MIB);
});

/**
 * Gives an account the largest data that earlier versions accepted: orders, history of receipts, audit events, rejections, users and kinds
 * of warnings.
 *
 * @param receiptId the receipt of each order.
 * @returns the ids of the orders. The first has the longest history, the last the longest reply.
 */
async function insertLongest(knex: Knex, accountId: number, receiptId: string): Promise<number[]> {
  const run = async (sql: string, more: Record<string, Knex.Value> = {}) =>
    (await knex.raw<{ rows: { order_id: number }[] }>(sql, { accountId, ...more })).rows;
  const rows = await run(
    `with longest as materialized (
       select (select jsonb_agg(${EMPTY_ITEM}) from generate_series(1, ${ITEMS})) as items, ${warnings("'/items/'")} as warnings
     )
     insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, address,
                         delivery_instructions, received_at)
     select :accountId, gen_random_uuid(), repeat('ع', 255), 'rest', :receiptId, items, warnings, 'blocks', 'AED', repeat('ع', 1000),
            repeat('ع', 2000), now() - interval '1 hour'
     from longest, generate_series(1, ${ORDERS})
     returning order_id`,
    { receiptId },
  );
  const ids = rows.map(({ order_id }) => order_id);
  await run(
    `update receipts set warnings = ${warnings("'/'")},
       history = (select jsonb_agg(jsonb_build_object('attempt', 1, 'failed_at', now(), 'code', 'write_refused'))
                  from generate_series(1, 20000))
     where account_id = :accountId`,
  );
  const [longest] = ids.slice(-1) as [number];
  await run(
    `insert into audit_events (account_id, actor, action, subject, details)
     select :accountId, 'old', 'order_edited', 'order:' || :orderId, jsonb_build_object('changes', jsonb_build_array(
              jsonb_build_object('pointer', '/address', 'before', repeat('a', 1200), 'after', repeat('b', 1200))))
     from generate_series(1, 200)`,
    { orderId: longest },
  );
  await run(
    `insert into audit_events (account_id, actor, action, subject, details)
     select :accountId, 'old', 'order_edited', 'order:' || :orderId, jsonb_build_object('changes', jsonb_build_array(
              jsonb_build_object('pointer', '/items', 'before',
                                 (select jsonb_agg(${EMPTY_ITEM}) from generate_series(1, ${ITEMS})), 'after', '[]'::jsonb)))
     from generate_series(1, ${LONG_EVENTS})`,
    { orderId: ids[0] as number },
  );
  await run(
    `insert into changed_deliveries (account_id, order_id, receipt_id, received_at, changes, decision)
     select :accountId, :orderId, gen_random_uuid(), now(), jsonb_agg(
              jsonb_build_object('pointer', '/items/' || i || '/name', 'from', repeat('a', 100), 'to', repeat('b', 100))), 'refused'
     from generate_series(1, 20) n, generate_series(1, 60) i
     group by n`,
    { orderId: longest },
  );
  await run(
    `insert into rejected_deliveries (account_id, channel, code, request_id, key_id, errors)
     select :accountId, 'rest', 'validation_failed', 'x', 1,
            (select jsonb_agg(jsonb_build_object('pointer', '/' || repeat('ع', 199), 'code', 'unknown_field'))
             from generate_series(1, 20))
     from generate_series(1, 5000)`,
  );
  await run(
    `with added as (
       insert into users (id, email, name, role)
       select 'many-' || n, 'many-' || n || '@example.test', repeat('n', 200), 'account_holder'
       from generate_series(1, 50000) n returning id
     )
     insert into memberships (user_id, account_id, role) select id, :accountId, 'owner' from added`,
  );
  await run(
    `insert into activity (account_id, bucket_start, warnings)
     select :accountId, date_bin('5 minutes', now(), 'epoch') - b * interval '5 minutes',
            (select jsonb_object_agg('unknown_field /' || b || '/' || n || repeat('p', 250), 1) from generate_series(1, 1000) n)
     from generate_series(1, 100) b`,
  );
  return ids;
}
