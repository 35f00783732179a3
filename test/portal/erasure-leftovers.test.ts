import { randomUUIDv7 } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { findDeliveries } from '@orders/database/sources/activity.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { until } from '@orders/test-services/until.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { hold, untilOrdersAreBeingWritten, whoWait } from '../harness/barriers.ts';
import { CUSTOMER, CUSTOMER_MEMBERS, erase, markersFor, NOT_ERASED, storedFor } from '../harness/erasure.ts';
import { findMarkers } from '../harness/marked-order.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { runOrders } from '../harness/run-command.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

/** Values that must not be stored anywhere in the account after the erasure. */
const ADDRESS = 'Villa Leftover 77';
const PHONE = '050 827 7163';

const { stack, knex, db, api, database, account } = useStack({
  intake: true,
  worker: { RETRY_ATTEMPTS: '1' },
  database: true,
  account: 'each test',
  events: true,
});

async function send(order: object) {
  const body = await api.process(account, order);
  expect(body.status).toMatch(/written|duplicate/);
  return body;
}

const orders = (...argv: string[]) => runOrders(stack, ...argv);

/** Stores receipts of an account in one batch. */
function record(
  ...receipts: { order: { source_order_id: string; customer?: object; address?: string }; key?: string }[]
) {
  const batch = receipts.map(({ order, key: idempotencyKey = null }) => {
    const body = Buffer.from(JSON.stringify(order));
    return newReceipt({ accountId: account.id, sourceOrderId: order.source_order_id, idempotencyKey, body });
  });
  return recordReceipts(database, randomUUIDv7(), 3_600_000, batch);
}

/** Whether any row, except those of other accounts, contains a string, in any form. */
async function isStored(text: string): Promise<boolean> {
  return findMarkers((await storedFor(stack, account)).join('\n'), { text }).length > 0;
}

const rowOf = async (sourceOrderId: string) =>
  (await knex('orders').where({ account_id: account.id, source_order_id: sourceOrderId }))[0];

test('an erasure removes the body of a rejected changed delivery that was stored next to another order', async () => {
  const order = { source_order_id: 'first', customer: { phone: PHONE }, address: ADDRESS };
  await record({ order, key: 'k1' });
  await record({ order, key: 'k1' }, { order: { source_order_id: 'second' }, key: 'k2' });
  expect(await isStored(ADDRESS)).toBe(true);
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ receipts: 1 });
  expect(await isStored(ADDRESS)).toBe(false);
});

test('ids, skus and totals of other orders do not match a phone number', async () => {
  const aisha = await send({
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
    await send({ ...order, address: ADDRESS });
  const found = { order_id: aisha.order_id, receipt_id: aisha.receipt_id, receipts: 1 };
  expect(await erase(stack, account, '--phone', '+97333123456', '--dry-run')).toMatchObject({
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
  expect(await erase(stack, account, '--phone', '+97333123456')).toMatchObject({ orders: 1, receipts: 1 });
  const left = await knex('orders').where({ account_id: account.id, erased_at: null, address: ADDRESS });
  expect(left).toHaveLength(4);
});

test('an order with many receipts is erased in short transactions, and an interrupted erasure continues', async () => {
  const order = { source_order_id: 'many', address: ADDRESS };
  const nameless = (count: number) => Array.from({ length: count }, () => ({ order }));
  // Only one receipt names the customer, and it must not be the first one to be erased.
  await record({ order: { ...order, customer: { phone: PHONE } } }, ...nameless(129));
  await record(...nameless(130));
  await knex.raw(`
    create function refuse_record() returns trigger language plpgsql as $$ begin raise exception 'cut short'; end $$;
    create trigger refuse_record before insert on audit_events for each row
    when (new.action = 'order_erased' and new.account_id = ${account.id}) execute function refuse_record()`);
  expect((await orders('erase', String(account.id), '--phone', PHONE)).code).not.toBe(0);
  await knex.raw('drop trigger refuse_record on audit_events');
  const erased = () => knex('receipts').where({ account_id: account.id }).whereNotNull('erased_at');
  const before = await erased();
  expect(before.length).toBeGreaterThan(0);
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ receipts: 260 - before.length });
  expect(await erased()).toHaveLength(260);
  expect(await isStored(ADDRESS)).toBe(false);
  const { rows } = await knex.raw(
    'select count(*) as receipts from receipts where account_id = ? group by xmin::text order by 1 desc',
    [account.id],
  );
  expect(rows[0].receipts).toBeLessThanOrEqual(100);
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ receipts: 0 });
});

test('text that people wrote about the customer after the erasure is erased too', async () => {
  const { order_id } = await send({ source_order_id: 'one', customer: { phone: PHONE } });
  await erase(stack, account, '--phone', PHONE);
  const review = (to: 'rejected' | 'needs_review' | 'confirmed', reason: string) =>
    reviewOrders(db, { accountId: account.id, orderIds: [order_id], to, by: 'somebody', reason });
  await review('rejected', `Call ${PHONE} first`);
  expect(await erase(stack, account, '--phone', PHONE, '--dry-run')).toMatchObject({
    found: [{ order_id, matched: ['review_reason', 'history'] }],
  });
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ orders: 1, receipts: 0 });
  expect((await rowOf('one')).review_reason).toBeNull();
  // Earlier versions of the portal allowed this.
  await review('needs_review', `She of ${PHONE} asked`);
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ orders: 1 });
  expect(await isStored(PHONE)).toBe(false);
  expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ orders: 0, receipts: 0 });
});

test.each([
  ['--email', 'li@marker.example'],
  ['--customer-id', 'c-17'],
])("an erasure by %s also removes the customer's phone number from order numbers and items", async (...by) => {
  await send({
    source_order_id: 'one',
    order_number: 'for 508277163',
    customer: { phone: PHONE, email: 'li@marker.example', id: 'c-17' },
    items: [{ name: 'Soup', quantity: 1, sku: '0508277163' }, { name: 'Card for 043219876' }, { name: 'Cake' }],
  });
  // Another delivery of the same order has another phone number of the customer.
  await send({ source_order_id: 'one', delivery_instructions: 'Call 04 321 9876' });
  expect(await erase(stack, account, ...by)).toMatchObject({ orders: 1, receipts: 2 });
  expect(await rowOf('one')).toMatchObject({
    order_number: 'one',
    items: [{ name: 'Soup', quantity: 1, sku: null }, { name: null }, { name: 'Cake' }],
  });
  for (const digits of ['508277163', '43219876']) expect(await isStored(digits)).toBe(false);
  expect(await erase(stack, account, ...by)).toMatchObject({ orders: 0, receipts: 0 });
});

test('a receipt that a worker has read becomes an order without customer data', async () => {
  // The worker has read the receipt but cannot write the order.
  const held = await hold(knex, 'lock table orders in share row exclusive mode');
  const { body } = await api.order(account, { source_order_id: 'held', ...CUSTOMER_MEMBERS, ...NOT_ERASED });
  await untilOrdersAreBeingWritten(knex);
  expect(await erase(stack, account, '--phone', '0508277163')).toMatchObject({ orders: 0, receipts: 1 });
  await held.release();
  expect(await api.final(account, body.receipt_id)).toMatchObject({ body: { status: 'written' } });
  expect(await markersFor(stack, account)).toEqual([]);
  const written = await knex('orders').where({ account_id: account.id });
  expect(written).toEqual([expect.objectContaining({ customer_phone: null, total: '149.50' })]);
});

test('search terms that are being created from the order are not kept', async () => {
  await api.process(account, { source_order_id: 'words', ...CUSTOMER_MEMBERS });
  await knex.raw(`
    create function wait_with_words() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(77); return new; end $$;
    create trigger wait_with_words before insert on order_words for each row
    when (new.words::text like '%zubayda%') execute function wait_with_words()`);
  const held = await hold(knex, 'select pg_advisory_xact_lock(77)');
  await knex('orders')
    .where({ account_id: account.id })
    .update({ written_at: new Date(Date.now() - 300_000) });
  // The worker may create search terms too. One of them has read the order.
  const filling = fillSearchTerms(db);
  await whoWait(knex, 1, 'advisory');
  await erase(stack, account, '--phone', '0508277163');
  await held.release();
  await filling;
  await until('no run creates search terms', async () => {
    const { rows } = await knex.raw(
      "select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%order_words%' and pid <> pg_backend_pid()",
    );
    return rows.length === 0;
  });
  expect(await markersFor(stack, account)).toEqual([]);
  await knex.raw('drop trigger wait_with_words on order_words');
});

describe('of deliveries to a source', () => {
  let source: Source;
  beforeEach(async () => {
    source = await createTestSource(stack, account, 'shopify');
  });

  const OTHER = { id: 2, name: '#2', shipping_address: { name: 'Omar Haddad', phone: '+971501112233' } };

  async function send(order: object): Promise<string> {
    const body = JSON.stringify(order);
    const reply = await deliver(api, source, body, shopifyHeaders(body));
    expect(reply.status).toBe(202);
    return reply.body.receipt_id;
  }

  /** The raw bodies of the stored deliveries, newest first. */
  async function rawBodies(count: number): Promise<string[]> {
    const deliveries = await until(`${count} deliveries are listed`, async () => {
      const found = await findDeliveries(db, account.id, source.source_number, 10);
      return found.length === count && found;
    });
    return deliveries.map(({ raw }) => raw.toString());
  }

  test('a customer who is only in a member that is not mapped is found, and the raw body is removed', async () => {
    const order = { id: 1, name: '#1', note_attributes: [{ name: 'gift for', value: CUSTOMER.email }] };
    // In one batch, so that both are in one payload row.
    const ids = await Promise.all([send(order), send(OTHER)]);
    for (const id of ids) await api.final(account, id);
    await rawBodies(2);
    expect(await erase(stack, account, '--email', CUSTOMER.email)).toMatchObject({ orders: 1, receipts: 1 });
    expect(await markersFor(stack, account)).toEqual([]);
    expect(await rawBodies(1)).toEqual([JSON.stringify(OTHER)]);
    expect(await knex('receipts').where({ account_id: account.id }).whereNotNull('raw_length')).toHaveLength(1);
    expect(await erase(stack, account, '--email', CUSTOMER.email)).toMatchObject({ orders: 0, receipts: 0 });
  });

  test('of the deliveries that could not be mapped, only those of the customer are erased; the others can be redriven', async () => {
    const unmapped = ({ id, ...order }: { id: unknown }) => ({ ...order, key: id });
    const ids = [
      await send(unmapped({ id: 1, ...{ shipping_address: { name: CUSTOMER.name, phone: CUSTOMER.phone[0] } } })),
      await send(unmapped(OTHER)),
    ];
    expect(await erase(stack, account, '--phone', CUSTOMER.phone[0] as string)).toMatchObject({
      orders: 0,
      receipts: 1,
    });
    expect(await markersFor(stack, account)).toEqual([]);
    const { source_number: sourceNumber, mapping } = source;
    const corrected = { ...mapping, source_order_id: '/key' };
    await setMapping(db, { accountId: account.id, sourceNumber, mapping: corrected, by: 'tester' });
    expect(await redriveReceipts(db, ids)).toEqual(ids.slice(1));
    expect((await api.final(account, ids[1] as string)).body).toMatchObject({
      status: 'written',
      source_order_id: 'my-shopify:2',
    });
  });
});
