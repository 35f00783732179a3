import { randomUUIDv7 } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { accountWithEvents } from '../harness/erasure.ts';
import { findMarkers } from '../harness/marked-order.ts';
import { runOrders } from '../harness/run-command.ts';
import type { TestAccount } from '../harness/stack.ts';
import { readTables } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

/** Values that must not be stored anywhere in the account after the erasure. */
const ADDRESS = 'Villa Leftover 77';
const PHONE = '050 827 7163';

const { stack, knex, db, api, database } = useStack({ intake: true, worker: true, database: true });

async function send(account: TestAccount, order: object) {
  const body = await api.process(account, order);
  expect(body.status).toMatch(/written|duplicate/);
  return body;
}

const orders = (...argv: string[]) => runOrders(stack, ...argv);

async function erase(account: TestAccount, ...by: string[]) {
  const { code, stdout, stderr } = await orders('erase', String(account.id), ...by, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Stores receipts of an account in one batch. */
function record(
  account: TestAccount,
  ...receipts: { order: { source_order_id: string; customer?: object; address?: string }; key?: string }[]
) {
  const batch = receipts.map(({ order, key = null }) => ({
    receiptId: randomUUIDv7(),
    accountId: account.id,
    channel: 'rest' as const,
    sourceOrderId: order.source_order_id,
    idempotencyKey: key,
    body: Buffer.from(JSON.stringify(order)),
  }));
  return recordReceipts(database, randomUUIDv7(), 3_600_000, batch);
}

/** Whether any row of an account contains a string, in any form. */
async function isStored(account: TestAccount, text: string): Promise<boolean> {
  const { rest } = await readTables(knex, {});
  const ofAccount = new RegExp(`"account_id":${account.id}[,}]`);
  const rows = rest.split('\n').filter((line) => ofAccount.test(line));
  return findMarkers(rows.join('\n'), { text }).length > 0;
}

const rowOf = async (account: TestAccount, sourceOrderId: string) =>
  (await knex('orders').where({ account_id: account.id, source_order_id: sourceOrderId }))[0];

test('an erasure removes the body of a rejected changed delivery that was stored next to another order', async () => {
  const account = await accountWithEvents(stack);
  const order = { source_order_id: 'first', customer: { phone: PHONE }, address: ADDRESS };
  await record(account, { order, key: 'k1' });
  await record(account, { order, key: 'k1' }, { order: { source_order_id: 'second' }, key: 'k2' });
  expect(await isStored(account, ADDRESS)).toBe(true);
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ receipts: 1 });
  expect(await isStored(account, ADDRESS)).toBe(false);
});

test('ids, skus and totals of other orders do not match a phone number', async () => {
  const account = await accountWithEvents(stack);
  const aisha = await send(account, {
    source_order_id: 'hers',
    customer: { phone: '+973 3312 3456' },
    delivery_instructions: 'or call 00973 33123456',
    mobile_973_33123456: true,
  });
  for (const order of [
    { source_order_id: '33123456' },
    { source_order_id: 'a', order_number: '33123456' },
    { source_order_id: 'b', items: [{ name: 'Soup', quantity: 33123456, sku: '97333123456' }] },
    { source_order_id: 'c', total: '33123456', reference: 33123456 },
  ])
    await send(account, { ...order, address: ADDRESS });
  const found = { order_id: aisha.order_id, receipt_id: aisha.receipt_id, receipts: 1 };
  expect(await erase(account, '--phone', '+97333123456', '--dry-run')).toMatchObject({
    orders: 1,
    receipts: 1,
    found: [
      {
        ...found,
        matched: expect.arrayContaining(['customer.phone', 'delivery_instructions', 'another member']),
      },
    ],
  });
  const { stdout } = await orders('erase', String(account.id), '--phone', '+97333123456', '--dry-run');
  expect(stdout).toContain(`Orders: ${aisha.order_id}.`);
  expect(stdout).not.toContain('33123456');
  expect(await erase(account, '--phone', '+97333123456')).toMatchObject({ orders: 1, receipts: 1 });
  const left = await knex('orders').where({ account_id: account.id, erased_at: null, address: ADDRESS });
  expect(left).toHaveLength(4);
});

test('an order with many receipts is erased in short transactions, and an interrupted erasure continues', async () => {
  const account = await accountWithEvents(stack);
  const order = { source_order_id: 'many', address: ADDRESS };
  const nameless = (count: number) => Array.from({ length: count }, () => ({ order }));
  // Only one receipt names the customer, and it must not be the first one to be erased.
  await record(account, { order: { ...order, customer: { phone: PHONE } } }, ...nameless(129));
  await record(account, ...nameless(130));
  await knex.raw(`
    create function refuse_record() returns trigger language plpgsql as $$ begin raise exception 'cut short'; end $$;
    create trigger refuse_record before insert on audit_events for each row
    when (new.action = 'order_erased' and new.account_id = ${account.id}) execute function refuse_record()`);
  expect((await orders('erase', String(account.id), '--phone', PHONE)).code).not.toBe(0);
  await knex.raw('drop trigger refuse_record on audit_events');
  const erased = () => knex('receipts').where({ account_id: account.id }).whereNotNull('erased_at');
  const before = await erased();
  expect(before.length).toBeGreaterThan(0);
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ receipts: 260 - before.length });
  expect(await erased()).toHaveLength(260);
  expect(await isStored(account, ADDRESS)).toBe(false);
  const { rows } = await knex.raw(
    'select count(*) as receipts from receipts where account_id = ? group by xmin::text order by 1 desc',
    [account.id],
  );
  expect(rows[0].receipts).toBeLessThanOrEqual(100);
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ receipts: 0 });
});

test('text that people wrote about the customer after the erasure is erased too', async () => {
  const account = await accountWithEvents(stack);
  const { order_id } = await send(account, { source_order_id: 'one', customer: { phone: PHONE } });
  await erase(account, '--phone', PHONE);
  const review = (to: 'rejected' | 'needs_review' | 'confirmed', reason: string) =>
    reviewOrders(db, { accountId: account.id, orderIds: [order_id], to, by: 'somebody', reason });
  await review('rejected', `Call ${PHONE} first`);
  expect(await erase(account, '--phone', PHONE, '--dry-run')).toMatchObject({
    found: [{ order_id, matched: ['review_reason', 'history'] }],
  });
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ orders: 1, receipts: 0 });
  expect((await rowOf(account, 'one')).review_reason).toBeNull();
  // Earlier versions of the portal allowed this.
  await review('needs_review', `She of ${PHONE} asked`);
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ orders: 1 });
  expect(await isStored(account, PHONE)).toBe(false);
  expect(await erase(account, '--phone', PHONE)).toMatchObject({ orders: 0, receipts: 0 });
});

test.each([
  ['--email', 'li@marker.example'],
  ['--customer-id', 'c-17'],
])("an erasure by %s also removes the customer's phone number from order numbers and items", async (...by) => {
  const account = await accountWithEvents(stack);
  await send(account, {
    source_order_id: 'one',
    order_number: 'for 508277163',
    customer: { phone: PHONE, email: 'li@marker.example', id: 'c-17' },
    items: [{ name: 'Soup', quantity: 1, sku: '0508277163' }, { name: 'Card for 043219876' }, { name: 'Cake' }],
  });
  // Another delivery of the same order has another phone number of the customer.
  await send(account, { source_order_id: 'one', delivery_instructions: 'Call 04 321 9876' });
  expect(await erase(account, ...by)).toMatchObject({ orders: 1, receipts: 2 });
  expect(await rowOf(account, 'one')).toMatchObject({
    order_number: 'one',
    items: [{ name: 'Soup', quantity: 1, sku: null }, { name: null }, { name: 'Cake' }],
  });
  for (const digits of ['508277163', '43219876']) expect(await isStored(account, digits)).toBe(false);
  expect(await erase(account, ...by)).toMatchObject({ orders: 0, receipts: 0 });
});
