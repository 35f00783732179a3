import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { chainAuditEvents } from '@orders/worker/chain-audit.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { run } from '../cli/run.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { CUSTOMER, CUSTOMER_MEMBERS, erase, markersFor, NOT_ERASED, storedFor } from '../harness/erasure.ts';
import { openShop, type Shop } from '../harness/people.ts';
import { runOrders } from '../harness/run-command.ts';
import type { RunningWorker, TestAccount } from '../harness/stack.ts';
import { readBodies } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

/** More data of the same customer, without the values that the erasure searches for. */
const NAMELESS = { address: CUSTOMER.address, delivery_instructions: CUSTOMER.instructions };

const { stack, knex, api, portal } = useStack({ intake: true, portal: true });
let worker: RunningWorker;

beforeAll(async () => {
  worker = await stack.worker({ RETRY_ATTEMPTS: '1' });
});

const send = (account: TestAccount, order: object, headers?: Record<string, string>) =>
  api.process(account, order, headers);

/** Values of an order that an erasure keeps. */
const receiptOf = async (account: TestAccount, receiptId: string) => (await api.status(account, receiptId)).body;

describe('the data of one customer', () => {
  let shop: Shop;
  let otherAccount: TestAccount;
  const receipt: Record<string, string> = {};
  let rejected: { order_id: number };
  let otherReceipts: Record<string, string>;

  const bodies = (receiptIds: string[]) => readBodies(knex, receiptIds);
  let bodiesBefore: unknown;
  let database: Database;
  let otherAccountBefore: string[];

  beforeAll(async () => {
    shop = await openShop(stack, portal);
    otherAccount = await stack.account({ events: true });
    const { account } = shop;
    await setEvents(connectionOf(knex), account.id, true);
    // In one or few batches, so that bodies of other customers are in the same rows.
    const others = Array.from({ length: 30 }, (_, n) => `other ${n}`);
    const [whole, ...rest] = await Promise.all([
      send(account, { source_order_id: 'whole', ...CUSTOMER_MEMBERS, ...NOT_ERASED }, { 'Idempotency-Key': 'k-1' }),
      ...others.map((name) => send(account, { source_order_id: name, customer: { name, phone: '0501110000' } })),
    ]);
    receipt.whole = whole.receipt_id;
    otherReceipts = Object.fromEntries(rest.map((body, n) => [`other ${n}`, body.receipt_id]));
    const also = async (name: string, order: object) => {
      receipt[name] = (await send(account, { source_order_id: name, ...order })).receipt_id;
    };
    await also('second number', { ...NAMELESS, customer: { name: 'H', phone: '04 765 4321 / +971 50-827-7163' } });
    await also('unknown member', { ...NAMELESS, contact: { mobile: 971508277163 } });
    await also('in a string', { ...NAMELESS, items: 'Cake, 0508277163', order_number: 'for 0508277163' });
    await also('nowhere else', { customer: CUSTOMER.phone[1] });
    receipt.resent = (await send(account, { source_order_id: 'whole', ...NAMELESS })).receipt_id;
    const hook = await api.webhook(account, { source_order_id: 'hook', ...CUSTOMER_MEMBERS });
    receipt.hook = hook.body.receipt_id;
    await api.final(account, hook.body.receipt_id);

    const edited = await send(account, { source_order_id: 'edited', ...NAMELESS, customer: { phone: '0508277164' } });
    receipt.edited = edited.receipt_id;
    await shop.patch(`/orders/${edited.order_id}`, { edits: { '/customer/phone': CUSTOMER.phone[0] } });
    await shop.patch(`/orders/${edited.order_id}`, { edits: { '/customer/phone': '0502223333' } });
    rejected = await send(account, { source_order_id: 'rejected', ...CUSTOMER_MEMBERS });
    await shop.post('/orders/review', {
      order_ids: [rejected.order_id],
      to: 'rejected',
      reason: CUSTOMER['why it was rejected'],
    });
    const confirmed = await send(account, { source_order_id: 'confirmed', ...CUSTOMER_MEMBERS });
    await shop.post('/orders/review', { order_ids: [confirmed.order_id], to: 'confirmed' });

    await poisonOrders(knex);
    await also('dead', { ...CUSTOMER_MEMBERS, ...NOT_ERASED, order_number: 'poison-1' });
    await stopPoisoning(knex);
    await send(otherAccount, { source_order_id: 'whole', ...CUSTOMER_MEMBERS });

    await knex('orders').update({ written_at: knex.raw("written_at - interval '5 minutes'") });
    while ((await fillSearchTerms(connectionOf(knex))) > 0);
    const isPublished = () =>
      knex('events').where({ account_id: account.id }).whereRaw("details ->> 'reason' is not null").first();
    await until('the rejection is published', isPublished);
    await worker.close();
    const { body } = await api.order(account, {
      source_order_id: 'pending',
      ...CUSTOMER_MEMBERS,
      ...NOT_ERASED,
    });
    receipt.pending = body.receipt_id;
    bodiesBefore = await bodies(Object.values(otherReceipts));
    otherAccountBefore = (await storedFor(stack, otherAccount)).filter((line) =>
      line.includes(`"account_id":${otherAccount.id},`),
    );
    expect(await markersFor(stack, account)).toEqual(Object.keys(CUSTOMER));
    database = stack.openDatabase();
    while ((await chainAuditEvents(database, 500)) > 0);
  });

  test('is counted by --dry-run, which changes and records nothing', async () => {
    const before = await storedFor(stack, shop.account);
    expect(await erase(stack, shop.account, '--phone', '050 827 7163', '--dry-run')).toMatchObject({
      account_id: shop.account.id,
      dry_run: true,
      orders: 9,
      confirmed_orders: 1,
      receipts: 12,
    });
    expect(await storedFor(stack, shop.account)).toEqual(before);
  });

  test('is removed everywhere, while ids, states, items, totals and the emirate stay', async () => {
    const before = await receiptOf(shop.account, receipt.whole as string);
    const { warnings: corrected } = await receiptOf(shop.account, receipt['unknown member'] as string);
    expect(corrected).not.toEqual([]);
    const erased = await erase(stack, shop.account, '--phone', '+971 50 827 7163');
    expect(erased).toMatchObject({ dry_run: false, orders: 9, confirmed_orders: 1, receipts: 12 });
    expect(await markersFor(stack, shop.account)).toEqual([]);
    expect(await receiptOf(shop.account, receipt.whole as string)).toEqual(before);
    // Pointers of warnings may contain a member name that the sender chose.
    const { warnings } = await receiptOf(shop.account, receipt['unknown member'] as string);
    expect(warnings).toEqual([]);
    const [order] = await knex('orders').where({ account_id: shop.account.id, source_order_id: 'whole' });
    expect(order).toMatchObject({
      order_number: 'whole',
      emirate: 'Dubai',
      emirate_code: 'AE-DU',
      items: [{ name: 'Soup', quantity: 2, sku: 'S-1' }],
      total: '149.50',
      review_state: 'needs_review',
      erased_at: expect.any(Date),
    });
  });

  test('is removed without changes to other customers and other accounts', async () => {
    expect(await bodies(Object.values(otherReceipts))).toEqual(bodiesBefore);
    expect(
      (await storedFor(stack, otherAccount)).filter((line) => line.includes(`"account_id":${otherAccount.id},`)),
    ).toEqual(otherAccountBefore);
    const left = await knex('orders').where({ customer_phone: '+971501110000', erased_at: null });
    expect(left).toHaveLength(30);
  });

  test('is removed with an audit record of the kind of search and not of its value', async () => {
    const log = await knex('audit_events').where({ account_id: shop.account.id });
    const summary = log.find(({ action }) => action === 'customer_erased');
    expect(summary).toMatchObject({
      subject: `account:${shop.account.id}`,
      actor: expect.stringMatching(/^operator:/),
      details: { by: ['phone'], orders: 9, receipts: 12, confirmed_orders: 1 },
    });
    expect(log.filter(({ action }) => action === 'order_erased')).toHaveLength(11);
  });

  test('leaves the chain of the audit trail valid, and its entries say by whom they were erased', async () => {
    while ((await chainAuditEvents(database, 500)) > 0);
    const env = { DATABASE_URL: stack.database.url };
    expect(await run(['audit', 'verify'], env)).toMatchObject({ code: 0 });
    const { stdout } = await run(['audit', 'export'], env);
    const erased = stdout.split('\n').filter((line) => line.includes('"erased":{"at"'));
    expect(erased.length).toBeGreaterThan(0);
    for (const line of erased) expect(JSON.parse(line).erased.by).toMatch(/^operator:/);
    expect(await markersFor(stack, shop.account)).toEqual([]);
  });

  test('is not shown by the portal, which marks the order as erased and rejects edits', async () => {
    const path = `/orders/${rejected.order_id}`;
    expect(await shop.get(path)).toMatchObject({
      status: 200,
      body: {
        erased_at: expect.any(String),
        order: { customer: { name: null, phone: null, email: null, id: null }, address: null },
        review: { state: 'rejected', reason: null },
        history: [{ action: 'order_erased' }, { action: 'order_rejected', reason: null }],
      },
    });
    await shop.post('/orders/review', { order_ids: [rejected.order_id], to: 'needs_review' });
    const edit = await shop.patch(path, { edits: { '/customer/name': 'Somebody' } });
    expect(edit).toMatchObject({ status: 409, body: { code: 'conflicting_state' } });
    expect((await shop.get(`/orders?q=827+7163`)).body.orders).toEqual([]);
    expect(await shop.get(`/receipts/${receipt.whole}`)).toMatchObject({
      status: 200,
      body: { erased_at: expect.any(String), payload: expect.stringContaining('"Soup"') },
    });
  });

  test('is removed again after a changed delivery, which is a duplicate', async () => {
    worker = await stack.worker({ RETRY_ATTEMPTS: '1' });
    const { account } = shop;
    const again = { source_order_id: 'whole', ...CUSTOMER_MEMBERS, ...NOT_ERASED };
    const replay = await api.order(account, again, { 'Idempotency-Key': 'k-1' });
    expect(replay.body).toEqual({ receipt_id: receipt.whole, duplicate: true });
    const { receipt_id } = await send(account, again);
    expect(await receiptOf(account, receipt_id)).toMatchObject({
      status: 'duplicate',
      duplicate_of: { receipt_id: receipt.whole },
    });
    // The changed delivery contained the data again, so it is erased again.
    expect(await markersFor(stack, account)).not.toEqual([]);
    expect(await erase(stack, account, '--email', 'ZUBAYDA.QT@marker.example')).toMatchObject({
      orders: 0,
      receipts: 1,
    });
    expect(await markersFor(stack, account)).toEqual([]);
    for (const [option, value] of [
      ['--phone', '050 827 7163'],
      ['--email', CUSTOMER.email],
      ['--customer-id', CUSTOMER['customer id']],
    ] as const)
      expect(await erase(stack, account, option, value)).toMatchObject({ orders: 0, receipts: 0 });
  });

  test('does not reappear when a pending receipt or a redriven dead one becomes an order', async () => {
    const { account } = shop;
    expect(await api.final(account, receipt.pending as string)).toMatchObject({ body: { status: 'written' } });
    expect((await runOrders(stack, 'receipts', 'redrive', receipt.dead as string)).code).toBe(0);
    expect(await api.final(account, receipt.dead as string)).toMatchObject({ body: { status: 'written' } });
    const written = await knex('orders').whereIn('source_order_id', ['pending', 'dead']);
    const sold = { customer_name: null, address: null, emirate: 'Dubai', total: '149.50' };
    expect(written).toEqual([expect.objectContaining(sold), expect.objectContaining(sold)]);
    expect(await markersFor(stack, account)).toEqual([]);
  });
});

test.each([
  ['--email', 'ZUBAYDA.qt@marker.example'],
  ['--customer-id', CUSTOMER['customer id']],
])('is also found by %s', async (...by) => {
  const account = await stack.account({ events: true });
  await send(account, { source_order_id: 'whole', ...CUSTOMER_MEMBERS });
  await send(account, {
    source_order_id: 'another',
    customer: { email: 'a.zubayda.qt@marker.example', id: 'customer-marker-811' },
  });
  expect(await erase(stack, account, ...by)).toMatchObject({ orders: 1, receipts: 1 });
  expect(await erase(stack, account, ...by)).toMatchObject({
    orders: 0,
    receipts: 0,
    examined: { orders: 2, receipts: 2 },
  });
});

test('is found in the order and in values before an edit if the receipt is past its retention', async () => {
  const shop = await openShop(stack, portal);
  const { account } = shop;
  await setEvents(connectionOf(knex), account.id, true);
  const one = await send(account, { source_order_id: 'old', ...CUSTOMER_MEMBERS });
  await shop.patch(`/orders/${one.order_id}`, { edits: { '/customer/phone': '0502223333', '/customer/email': null } });
  await knex.raw('delete from receipt_payloads where account_id = ?', [account.id]);
  await knex.raw('delete from receipts where account_id = ?', [account.id]);
  expect(await erase(stack, account, '--phone', '0508277163')).toMatchObject({ orders: 1, receipts: 0 });
  expect(await markersFor(stack, account)).toEqual([]);
});

test('is erased from the test account of the account too, which both the report and the trail tell', async () => {
  const shop = await openShop(stack, portal);
  const id = (await shop.post('/test-account')).body.account_id;
  const tests = { id, key: (await shop.client.post(`/accounts/${id}/keys`, { name: 'tests' })).body.key, secret: null };
  for (const account of [shop.account, tests]) await send(account, { source_order_id: 'one', ...CUSTOMER_MEMBERS });
  const phone = ['--phone', '0508277163'];
  const found = { orders: 1, receipts: 1 };
  const report = { account_id: shop.account.id, ...found, test_account: { account_id: id, ...found } };
  expect(await erase(stack, shop.account, ...phone, '--dry-run')).toMatchObject(report);
  const { stdout } = await runOrders(stack, 'erase', String(shop.account.id), ...phone);
  expect(stdout).toBe(
    `Erased the customer from 1 order and 1 receipt of account ${shop.account.id}.\n` +
      `Erased the customer from 1 order and 1 receipt of its test account ${id}.\n` +
      'Backups keep the data until they expire.\n',
  );
  const erased = await knex('audit_events').where({ action: 'customer_erased' });
  for (const account of [shop.account, tests]) {
    expect(await markersFor(stack, account)).toEqual([]);
    expect(erased.filter(({ account_id }) => account_id === account.id)).toHaveLength(1);
  }
});

test('is not searched for without a condition or in an unknown account', async () => {
  const { id } = await stack.account();
  expect(await runOrders(stack, 'erase', String(id))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give --phone'),
  });
  expect(await runOrders(stack, 'erase', String(id), '--phone', ' ')).toMatchObject({ code: 2 });
  expect(await runOrders(stack, 'erase', '999999', '--phone', '0508277163')).toMatchObject({ code: 1, stdout: '' });
});
