import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { cancelOrders } from '@orders/intake/routes/cancel-orders.ts';
import { dispatchOrders } from '@orders/worker/dispatch-orders.ts';
import pg from 'pg';
import { readBlocks } from '../harness/markdown-blocks.ts';
import { dispatch, insertOrder, insertOrders, makeReviewOlder } from '../harness/review-list.ts';
import { useDatabase } from '../harness/use-stack.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/dispatch.md'), 'utf8');
// Roles belong to the whole server, which other tests use too.
const ROLE = `dispatch_${randomUUID().slice(0, 8)}`;
const [CREATE_ROLE = '', POLL = '', POLL_CANCELLATIONS = '', READ_AGAIN = ''] = readBlocks(PAGE)
  .filter(({ language }) => language === 'sql')
  .map(({ text }) => text.replaceAll(/\bdispatch\b/g, ROLE));

const { db } = useDatabase({ direct: true });
let reader: pg.Client;
beforeAll(async () => {
  await db.knex.raw(CREATE_ROLE);
  const url = new URL(db.directUrl);
  Object.assign(url, { username: ROLE, password: 'replace-me' });
  reader = new pg.Client({ connectionString: url.href });
  await reader.connect();
});
afterAll(async () => {
  await reader?.end();
  await db?.knex.raw(`drop owned by ${ROLE}; drop role ${ROLE}`);
});

test('the SQL of the page returns each confirmed order once, behind the cursor', async () => {
  const accountId = 1;
  const orderIds = [await insertOrder(db.knex, accountId), await insertOrder(db.knex, accountId)];
  await reviewOrders(db.db, { accountId, orderIds, to: 'confirmed', by: 'reviewer' });
  await dispatchOrders(db.db);
  expect((await reader.query(POLL, [0])).rows).toEqual([]);
  await makeReviewOlder(db.knex, orderIds, 11);
  await dispatchOrders(db.db);
  const { rows } = await reader.query(POLL, [0]);
  expect(rows.map(({ order_id }) => Number(order_id))).toEqual(orderIds);
  expect((await reader.query(POLL, [rows[0].position])).rows).toEqual([rows[1]]);
  expect((await reader.query(POLL, [rows[1].position])).rows).toEqual([]);
});

test('a test of a platform is never dispatched, and is cancelled without a request', async () => {
  const { account_id: accountId } = await createAccount(db.db, 'shop');
  const { key_id } = await createKey(db.db, accountId, 'shop');
  const orderId = await insertOrder(db.knex, accountId, { is_test: true, source_order_id: 'TEST-1' });
  await reviewOrders(db.db, { accountId, orderIds: [orderId], to: 'confirmed', by: 'reviewer' });
  await makeReviewOlder(db.knex, [orderId], 11);
  await dispatchOrders(db.db);
  expect(await db.knex('undispatched_orders').where({ order_id: orderId })).toEqual([]);
  expect(await db.knex('dispatch_log').where({ order_id: orderId })).toEqual([]);
  const cancellations = [{ sourceOrderId: 'TEST-1', reason: null }];
  const outcomes = await cancelOrders(db.database, { accountId, by: { keyId: key_id }, cancellations });
  expect(outcomes.get('TEST-1')).toMatchObject({ outcome: 'cancelled' });
});

test('the details of an order are a list in the view', async () => {
  const orderId = await insertOrder(db.knex, 1, { details: 'Gift: Happy: birthday\nRing twice' });
  await reviewOrders(db.db, { accountId: 1, orderIds: [orderId], to: 'confirmed', by: 'reviewer' });
  await dispatch(db.knex, orderId);
  const { rows } = await reader.query('select details from dispatchable_orders where order_id = $1', [orderId]);
  expect(rows).toEqual([
    {
      details: [
        { label: 'Gift', value: 'Happy: birthday' },
        { label: '', value: 'Ring twice' },
      ],
    },
  ]);
});

test('the SQL of the page returns each cancellation request once, and never before its order', async () => {
  const { account_id: accountId } = await createAccount(db.db, 'shop');
  const { key_id } = await createKey(db.db, accountId, 'shop');
  const orderIds = [await insertOrder(db.knex, accountId), await insertOrder(db.knex, accountId)];
  await reviewOrders(db.db, { accountId, orderIds, to: 'confirmed', by: 'reviewer' });
  for (const orderId of orderIds) await dispatch(db.knex, orderId);
  const ids = await db.knex('orders').whereIn('order_id', orderIds).orderBy('order_id').pluck('source_order_id');
  const { position } = (await reader.query(POLL, [0])).rows.find(({ order_id }) => Number(order_id) === orderIds[0]);
  const readAgain = async () => (await reader.query(READ_AGAIN, [position])).rows;
  expect(await readAgain()).toEqual([{ cancellation_requested_at: null }]);
  const cancellations = ids.map((sourceOrderId) => ({ sourceOrderId, reason: 'late' }));
  const outcomes = await cancelOrders(db.database, { accountId, by: { keyId: key_id }, cancellations });
  expect([...outcomes.values()].map(({ outcome }) => outcome)).toEqual(['requested', 'requested']);
  expect(await readAgain()).toEqual([{ cancellation_requested_at: expect.any(Date) }]);
  expect((await reader.query(POLL_CANCELLATIONS, [0])).rows).toEqual([]);
  await dispatchOrders(db.db);
  const { rows } = await reader.query(POLL_CANCELLATIONS, [0]);
  expect(rows).toMatchObject(
    ids.map((source_order_id) => ({ source_order_id, reason: 'late', requested_by: 'key:shop' })),
  );
  const ordersBefore = (await reader.query(POLL, [0])).rows.filter(({ position }) => position < rows[0].position);
  expect(ordersBefore.map(({ order_id }) => Number(order_id))).toEqual(expect.arrayContaining(orderIds));
  expect((await reader.query(POLL_CANCELLATIONS, [rows[1].position])).rows).toEqual([]);
});

test('a poll reads what is behind the cursor, and not all orders', async () => {
  const orderIds = await insertOrders(db.knex, 1, 3000);
  await db.knex.raw(
    `insert into dispatch_log (position, account_id, order_id, is_cancellation)
     select 1000000 + row_number() over (order by order_id), account_id, order_id, false from orders where order_id = any(?)`,
    [orderIds],
  );
  await db.knex('orders').whereIn('order_id', orderIds).update({ review_state: 'confirmed' });
  await db.knex.raw('analyze');
  const read = (plan: { 'Actual Rows': number; 'Actual Loops': number; Plans?: object[] }): number =>
    plan['Actual Rows'] * plan['Actual Loops'] +
    (plan.Plans ?? []).reduce((sum, one) => sum + read(one as typeof plan), 0);
  const { rows } = await db.knex.raw(`explain (analyze, format json) ${POLL.replace('$1::bigint', '1000000')}`);
  // A thousand of the log, as many orders, and what joins them.
  expect(read(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(6500);
  const requests = await db.knex.raw(`explain (analyze, format json) ${POLL_CANCELLATIONS.replace('$1::bigint', '3')}`);
  expect(read(requests.rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(20);
});

test('the role of the page can read nothing else', async () => {
  for (const table of ['receipts', 'accounts', 'signing_secrets', 'cancellation_requests'])
    await expect(reader.query(`select * from ${table}`)).rejects.toMatchObject({ code: '42501' });
});

test.each([
  ['dispatchable_orders', '## Columns'],
  ['dispatch_cancellations', '## Cancellations'],
])('the page lists the columns of %s', async (view, heading) => {
  const { fields } = await reader.query(`select * from ${view} limit 0`);
  const table = PAGE.split(heading)[1]?.split('\n## ')[0] ?? '';
  const listed = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(fields.map(({ name }) => name).toSorted()).toEqual(listed.toSorted());
});
