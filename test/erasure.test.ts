import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runCli } from '@orders/cli';
import { fillWords } from '@orders/database';
import { type Hold, hold, whoWait } from './harness/gates.ts';
import { findMarkers } from './harness/markers.ts';
import { mendOrders, poisonOrders } from './harness/poison.ts';
import { openShop, type Shop } from './harness/review-list.ts';
import {
  type RunningIntake,
  type RunningPortal,
  type RunningWorker,
  type Stack,
  startStack,
  type TestAccount,
} from './harness/stack.ts';
import { readTables } from './harness/stored.ts';
import { until } from './harness/until.ts';

/** What must be nowhere afterwards, in any spelling. */
const CUSTOMER = {
  name: 'Zubayda Qasimi-Thorne',
  phone: ['050 827 7163', '0508277163', '971508277163', '8277163'],
  reversed: '3617728',
  email: 'zubayda.qt@marker.example',
  'customer id': 'customer-marker-81',
  address: 'Villa "Marker" 77,\n   at Street 9ب, Al Barsha',
  area: 'Marker Heights',
  instructions: 'Gate code 4471#, ask for her',
  'mistyped phone': '0508277164',
  'why it was rejected': 'She asked us to forget it',
};

const WHOLE = {
  customer: { name: CUSTOMER.name, phone: CUSTOMER.phone[0], email: CUSTOMER.email, id: CUSTOMER['customer id'] },
  address: CUSTOMER.address,
  area: CUSTOMER.area,
  delivery_instructions: CUSTOMER.instructions,
};
/** Of the same customer, by nothing that they are looked for by. */
const NAMELESS = { address: CUSTOMER.address, delivery_instructions: CUSTOMER.instructions };
const SOLD = { emirate: 'Dubai', items: [{ name: 'Soup', quantity: 2, sku: 'S-1' }], total: '149.50' };

let stack: Stack;
let intake: RunningIntake;
let worker: RunningWorker;
let portal: RunningPortal;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake();
  worker = await stack.worker({ RETRY_ATTEMPTS: '1' });
  portal = await stack.portal();
});
afterAll(() => stack.close());

/** Sends an order and waits for its end; the reply to it. */
async function send(account: TestAccount, order: object, headers: Record<string, string> = {}) {
  const { status, body } = await intake.api.order(account, order, { Prefer: 'wait=30', ...headers });
  expect(status).toBe(202);
  return body;
}

async function orders(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({ write: (text: string) => (written[name] += text) });
  const env = { DATABASE_URL: stack.database.url };
  const code = await runCli(argv, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env,
    localDirectory: '/nowhere',
  });
  return { code, ...written };
}

async function erase(account: TestAccount, ...by: string[]) {
  const { code, stdout, stderr } = await orders('erase', String(account.id), ...by, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Whatever there is in any table, but for what belongs to another account. */
async function storedFor(account: TestAccount): Promise<string[]> {
  const { rest } = await readTables(stack.database.knex, {});
  return rest.split('\n').filter((line) => {
    const [, row] = /^\S+ (.*)$/.exec(line) ?? [];
    return row && [undefined, null, account.id].includes(JSON.parse(row).account_id);
  });
}

async function markersFor(account: TestAccount): Promise<string[]> {
  return findMarkers((await storedFor(account)).join('\n'), CUSTOMER);
}

/** All that is known of an order but what erasing takes. */
const receiptOf = async (account: TestAccount, receiptId: string) => (await intake.api.status(account, receiptId)).body;

describe('the data of one customer, in every place where it can be', () => {
  let shop: Shop;
  let market: TestAccount;
  const receipt: Record<string, string> = {};
  let rejected: { order_id: number };
  let neighbours: Record<string, string>;

  const bodies = async (receiptIds: string[]) =>
    (
      await stack.database.knex.raw(
        `select r.receipt_id, substring(p.bodies from r.body_start for r.body_length) as body
         from receipts r join receipt_payloads p using (batch_id, account_id) where r.receipt_id = any(?) order by 1`,
        [receiptIds],
      )
    ).rows;
  let bodiesBefore: unknown;
  let marketBefore: string[];

  beforeAll(async () => {
    const { knex } = stack.database;
    shop = await openShop(stack, portal);
    market = await stack.account();
    const { account } = shop;
    // One batch or few: bodies of others lie beside those of the customer.
    const others = Array.from({ length: 30 }, (_, n) => `other ${n}`);
    const [whole, ...rest] = await Promise.all([
      send(account, { source_order_id: 'whole', ...WHOLE, ...SOLD }, { 'Idempotency-Key': 'k-1' }),
      ...others.map((name) => send(account, { source_order_id: name, customer: { name, phone: '0501110000' } })),
    ]);
    receipt.whole = whole.receipt_id;
    neighbours = Object.fromEntries(rest.map((body, n) => [`other ${n}`, body.receipt_id]));
    const also = async (name: string, order: object) => {
      receipt[name] = (await send(account, { source_order_id: name, ...order })).receipt_id;
    };
    await also('second number', { ...NAMELESS, customer: { name: 'H', phone: '04 765 4321 / +971 50-827-7163' } });
    await also('unknown member', { ...NAMELESS, contact: { mobile: 971508277163 } });
    await also('in a text', { ...NAMELESS, items: 'Cake, 0508277163', order_number: 'for 0508277163' });
    await also('nowhere else', { customer: CUSTOMER.phone[1] });
    receipt.resent = (await send(account, { source_order_id: 'whole', ...NAMELESS })).receipt_id;
    const hook = await intake.api.webhook(account, { source_order_id: 'hook', ...WHOLE }, { Prefer: 'wait=30' });
    receipt.hook = hook.body.receipt_id;

    const edited = await send(account, { source_order_id: 'edited', ...NAMELESS, customer: { phone: '0508277164' } });
    receipt.edited = edited.receipt_id;
    await shop.patch(`/orders/${edited.order_id}`, { edits: { '/customer/phone': CUSTOMER.phone[0] } });
    await shop.patch(`/orders/${edited.order_id}`, { edits: { '/customer/phone': '0502223333' } });
    rejected = await send(account, { source_order_id: 'rejected', ...WHOLE });
    await shop.post('/orders/review', {
      order_ids: [rejected.order_id],
      to: 'rejected',
      reason: CUSTOMER['why it was rejected'],
    });
    const confirmed = await send(account, { source_order_id: 'confirmed', ...WHOLE });
    await shop.post('/orders/review', { order_ids: [confirmed.order_id], to: 'confirmed' });

    await poisonOrders(knex);
    await also('dead', { ...WHOLE, ...SOLD, order_number: 'poison-1' });
    await mendOrders(knex);
    await send(market, { source_order_id: 'whole', ...WHOLE });

    await knex('orders').update({ written_at: knex.raw("written_at - interval '5 minutes'") });
    while ((await fillWords(knex)) > 0);
    await worker.close();
    const { body } = await intake.api.order(account, { source_order_id: 'pending', ...WHOLE, ...SOLD });
    receipt.pending = body.receipt_id;
    bodiesBefore = await bodies(Object.values(neighbours));
    marketBefore = (await storedFor(market)).filter((line) => line.includes(`"account_id":${market.id},`));
    expect(await markersFor(account)).toEqual(Object.keys(CUSTOMER));
  });

  test('is counted by --dry-run, which changes and records nothing', async () => {
    const before = await storedFor(shop.account);
    expect(await erase(shop.account, '--phone', '050 827 7163', '--dry-run')).toMatchObject({
      account_id: shop.account.id,
      dry_run: true,
      orders: 9,
      confirmed_orders: 1,
      receipts: 12,
    });
    expect(await storedFor(shop.account)).toEqual(before);
  });

  test('is nowhere any more, while ids, states, items, totals and the emirate stay', async () => {
    const before = await receiptOf(shop.account, receipt.whole as string);
    const { warnings: mended } = await receiptOf(shop.account, receipt['unknown member'] as string);
    expect(mended).not.toEqual([]);
    const erased = await erase(shop.account, '--phone', '+971 50 827 7163');
    expect(erased).toMatchObject({ dry_run: false, orders: 9, confirmed_orders: 1, receipts: 12 });
    expect(await markersFor(shop.account)).toEqual([]);
    expect(await receiptOf(shop.account, receipt.whole as string)).toEqual(before);
    // Their pointers may hold what a sender made the name of a member.
    const { warnings } = await receiptOf(shop.account, receipt['unknown member'] as string);
    expect(warnings).toEqual([]);
    const [order] = await stack.database
      .knex('orders')
      .where({ account_id: shop.account.id, source_order_id: 'whole' });
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

  test('of other customers and other accounts nothing changes', async () => {
    expect(await bodies(Object.values(neighbours))).toEqual(bodiesBefore);
    expect((await storedFor(market)).filter((line) => line.includes(`"account_id":${market.id},`))).toEqual(
      marketBefore,
    );
    const left = await stack.database.knex('orders').where({ customer_phone: '+971501110000', erased_at: null });
    expect(left).toHaveLength(30);
  });

  test('it is on record, by what was looked for and not by whom', async () => {
    const log = await stack.database.knex('audit_events').where({ account_id: shop.account.id });
    const summary = log.find(({ action }) => action === 'customer_erased');
    expect(summary).toMatchObject({
      subject: `account:${shop.account.id}`,
      actor: expect.stringMatching(/^operator:/),
      details: { by: ['phone'], orders: 9, receipts: 12, confirmed_orders: 1 },
    });
    expect(log.filter(({ action }) => action === 'order_erased')).toHaveLength(11);
  });

  test('the portal opens an erased order, says so, and takes no edit of it', async () => {
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

  test('a key replays its receipt, and a repeat of an order is its duplicate', async () => {
    worker = await stack.worker({ RETRY_ATTEMPTS: '1' });
    const { account } = shop;
    const again = { source_order_id: 'whole', ...WHOLE, ...SOLD };
    const replay = await intake.api.order(account, again, { 'Idempotency-Key': 'k-1' });
    expect(replay.body).toEqual({ receipt_id: receipt.whole, duplicate: true });
    const { receipt_id } = await send(account, again);
    expect(await receiptOf(account, receipt_id)).toMatchObject({
      status: 'duplicate',
      duplicate_of: { receipt_id: receipt.whole },
    });
    // It brought the data again, which is erased again.
    expect(await markersFor(account)).not.toEqual([]);
    expect(await erase(account, '--email', 'ZUBAYDA.QT@marker.example')).toMatchObject({ orders: 0, receipts: 1 });
    expect(await markersFor(account)).toEqual([]);
    for (const [option, value] of [
      ['--phone', '050 827 7163'],
      ['--email', CUSTOMER.email],
      ['--customer-id', CUSTOMER['customer id']],
    ] as const)
      expect(await erase(account, option, value)).toMatchObject({ orders: 0, receipts: 0 });
  });

  test('a receipt that was not written yet, and a dead one that is redriven, become orders without it', async () => {
    const { account } = shop;
    expect(await intake.api.final(account, receipt.pending as string)).toMatchObject({ body: { status: 'written' } });
    expect((await orders('receipts', 'redrive', receipt.dead as string)).code).toBe(0);
    expect(await intake.api.final(account, receipt.dead as string)).toMatchObject({ body: { status: 'written' } });
    const written = await stack.database.knex('orders').whereIn('source_order_id', ['pending', 'dead']);
    const sold = { customer_name: null, address: null, emirate: 'Dubai', total: '149.50' };
    expect(written).toEqual([expect.objectContaining(sold), expect.objectContaining(sold)]);
    expect(await markersFor(account)).toEqual([]);
  });
});

test.each([
  ['--email', 'ZUBAYDA.qt@marker.example'],
  ['--customer-id', CUSTOMER['customer id']],
])('by %s the same is found', async (...by) => {
  const account = await stack.account();
  await send(account, { source_order_id: 'whole', ...WHOLE });
  await send(account, {
    source_order_id: 'another',
    customer: { email: 'a.zubayda.qt@marker.example', id: 'customer-marker-811' },
  });
  expect(await erase(account, ...by)).toMatchObject({ orders: 1, receipts: 1 });
  expect(await erase(account, ...by)).toMatchObject({ orders: 0, receipts: 0, examined: { orders: 2, receipts: 2 } });
});

test('an order whose receipt is past its retention is erased by what the order says, and by what it said before an edit', async () => {
  const { knex } = stack.database;
  const shop = await openShop(stack, portal);
  const { account } = shop;
  const one = await send(account, { source_order_id: 'old', ...WHOLE });
  await shop.patch(`/orders/${one.order_id}`, { edits: { '/customer/phone': '0502223333', '/customer/email': null } });
  await knex.raw('delete from receipt_payloads where account_id = ?', [account.id]);
  await knex.raw('delete from receipts where account_id = ?', [account.id]);
  expect(await erase(account, '--phone', '0508277163')).toMatchObject({ orders: 1, receipts: 0 });
  expect(await markersFor(account)).toEqual([]);
});

describe('while others are at it', () => {
  let held: Hold | undefined;
  afterEach(() => held?.release());

  test('a worker that holds the receipt writes nothing of the customer, and the order is written without', async () => {
    const account = await stack.account();
    // The worker has claimed and read it; its order cannot be inserted.
    held = await hold(stack.database.knex, 'lock table orders in share row exclusive mode');
    const { body } = await intake.api.order(account, { source_order_id: 'held', ...WHOLE, ...SOLD });
    await whoWait(stack.database.knex, 1, 'relation');
    expect(await erase(account, '--phone', '0508277163')).toMatchObject({ orders: 0, receipts: 1 });
    await held.release();
    expect(await intake.api.final(account, body.receipt_id)).toMatchObject({ body: { status: 'written' } });
    expect(await markersFor(account)).toEqual([]);
    const written = await stack.database.knex('orders').where({ account_id: account.id });
    expect(written).toEqual([expect.objectContaining({ customer_phone: null, total: '149.50' })]);
  });

  test('words that are just being made from the order are not kept', async () => {
    const { knex } = stack.database;
    const account = await stack.account();
    await send(account, { source_order_id: 'words', ...WHOLE });
    await knex('orders')
      .where({ account_id: account.id })
      .update({ written_at: new Date(Date.now() - 300_000) });
    await knex.raw(`
      create function wait_with_words() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(77); return new; end $$;
      create trigger wait_with_words before insert on order_words for each row
      when (new.words::text like '%zubayda%') execute function wait_with_words()`);
    held = await hold(knex, 'select pg_advisory_xact_lock(77)');
    // The worker may be at it as well; either has read the order.
    const filling = fillWords(knex);
    await whoWait(knex, 1, 'advisory');
    await erase(account, '--phone', '0508277163');
    await held.release();
    await filling;
    await until('nobody makes words any more', async () => {
      const { rows } = await knex.raw(
        "select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%order_words%' and pid <> pg_backend_pid()",
      );
      return rows.length === 0;
    });
    expect(await markersFor(account)).toEqual([]);
    await knex.raw('drop trigger wait_with_words on order_words');
  });
});

test('what names nobody, or everybody, is wrong use', async () => {
  const { id } = await stack.account();
  expect(await orders('erase', String(id))).toMatchObject({ code: 2, stderr: expect.stringContaining('Say whom') });
  expect(await orders('erase', String(id), '--phone', ' ')).toMatchObject({ code: 2 });
  expect(await orders('erase', '999999', '--phone', '0508277163')).toMatchObject({ code: 1, stdout: '' });
});
