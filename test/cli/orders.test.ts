import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import { useCli } from './run.ts';
import { openSeed, type Seed } from './seed.ts';

const cli = useCli();
let seed: Seed;
let kitchen: number;
let made = 0;

beforeAll(async () => {
  seed = openSeed(cli.url);
  kitchen = (await cli.json('accounts', 'create', 'Kitchen')).account_id;
});

const ORDER = {
  source_order_id: 'full',
  customer: { name: 'Aisha Khan', phone: '050 123 4567', email: 'aisha@example.com', id: 'c-7' },
  address: 'Apt 1204, Marina Heights, a long way behind the second gate, past the fountain and then up the stairs',
  emirate: 'Dubai',
  area: 'Marina',
  items: [{ name: 'Soup', quantity: 2, sku: 'S-1' }, { name: 'Bread' }],
  total: '149.50',
  delivery_instructions: 'Knock twice\nthen wait',
};

/** The id of a written order, as an argument. */
async function newOrder(): Promise<string> {
  return String((await seed.written(kitchen, { source_order_id: `order-${++made}` })).orderId);
}

const reviewOf = (id: string) => cli.knex('orders').where({ order_id: id }).first('review_state', 'reviewed_by');
const idsOf = (orders: { order_id: number }[]) => orders.map(({ order_id }) => order_id);

test('show gives the order as the contract has it', async () => {
  const { orderId, receiptId } = await seed.written(kitchen, ORDER);
  const order = await cli.json('orders', 'show', String(orderId));
  expect(order).toEqual({
    order_id: orderId,
    account_id: kitchen,
    source_order_id: 'full',
    order_number: 'full',
    channel: 'rest',
    receipt_id: receiptId,
    customer: { name: 'Aisha Khan', phone: '+971501234567', email: 'aisha@example.com', id: 'c-7' },
    address: ORDER.address,
    emirate: 'Dubai',
    emirate_code: 'AE-DU',
    area: 'Marina',
    items: [
      { name: 'Soup', quantity: 2, sku: 'S-1' },
      { name: 'Bread', quantity: null, sku: null },
    ],
    total: '149.50',
    currency: 'AED',
    ...ofTextFields(() => null),
    delivery_instructions: 'Knock twice\nthen wait',
    warnings: [],
    review_state: 'needs_review',
    received_at: expect.any(String),
    written_at: expect.any(String),
  });
  const { stdout } = await cli.run('orders', 'show', String(orderId));
  expect(stdout).toMatch(/^total +149\.50 AED$/m);
  expect(stdout).toMatch(/^items +2 × Soup \(S-1\)\n +\? × Bread$/m);
  expect(stdout).toMatch(/^emirate +Dubai \(AE-DU\)$/m);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test('list: by account, oldest first, by state, account and limit; all unless limited', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Market');
  const foreign = (await seed.written(account_id, { source_order_id: 'x'.repeat(200) })).orderId as number;
  for (let n = 0; n < 60; n++) await newOrder();
  const [confirmed, rejected] = [await newOrder(), await newOrder()];
  await cli.json('orders', 'confirm', confirmed);
  await cli.json('orders', 'reject', rejected);
  const all = await cli.json('orders', 'list');
  expect(all.length).toBeGreaterThan(60);
  const keys = all.map((order: { account_id: number; order_id: number }) => [order.account_id, order.order_id]);
  expect(keys).toEqual(keys.toSorted(([a = 0, x = 0]: number[], [b = 0, y = 0]: number[]) => a - b || x - y));
  const waiting = idsOf(await cli.json('orders', 'list', '--needs-review'));
  expect(waiting).toEqual(idsOf(all).filter((id) => ![Number(confirmed), Number(rejected)].includes(id)));
  expect(idsOf(await cli.json('orders', 'list', '--state', 'needs_review'))).toEqual(waiting);
  expect(idsOf(await cli.json('orders', 'list', '--state', 'rejected'))).toEqual([Number(rejected)]);
  expect(idsOf(await cli.json('orders', 'list', '--account', 'Market'))).toEqual([foreign]);
  expect(await cli.json('orders', 'list', '--limit', '3')).toEqual(all.slice(0, 3));
  expect(await cli.json('orders', 'list', '--account', 'Market', '--state', 'rejected')).toEqual([]);
  const { stdout } = await cli.run('orders', 'list');
  expect(stdout.trimEnd().split('\n')).toHaveLength(all.length + 1);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test("list leaves out a test account's orders unless it is asked for", async () => {
  const { account_id } = await cli.json('accounts', 'test', 'Kitchen');
  const tried = (await seed.written(account_id, { source_order_id: 'tried' })).orderId as number;
  expect(idsOf(await cli.json('orders', 'list', '--account', String(account_id)))).toEqual([tried]);
  expect(idsOf(await cli.json('orders', 'list', '--needs-review'))).not.toContain(tried);
  expect(await cli.json('orders', 'show', String(tried))).toMatchObject({ account_id });
});

describe('review', () => {
  test.each([
    ['needs_review', 'confirm', 'confirmed'],
    ['needs_review', 'reject', 'rejected'],
    ['rejected', 'reopen', 'needs_review'],
  ])('%s: %s makes it %s, on record', async (from, verb, to) => {
    const id = await newOrder();
    if (from === 'rejected') await cli.json('orders', 'reject', id, '--by', 'somebody');
    expect(await cli.json('orders', verb, id, '--by', 'Fatima')).toMatchObject({
      order_id: Number(id),
      review_state: to,
    });
    expect(await reviewOf(id)).toEqual({ review_state: to, reviewed_by: 'Fatima' });
    expect((await cli.run('orders', 'show', id)).stdout).toMatch(/^reviewed +by Fatima, \d{4}-/m);
  });

  test.each([
    ['needs_review', 'reopen'],
    ['confirmed', 'confirm'],
    ['confirmed', 'reject'],
    ['confirmed', 'reopen'],
    ['rejected', 'reject'],
    ['rejected', 'confirm'],
  ])('%s: %s is refused and changes nothing', async (state, verb) => {
    const id = await newOrder();
    if (state !== 'needs_review')
      await cli.json('orders', state === 'confirmed' ? 'confirm' : 'reject', id, '--by', 'first');
    const before = await reviewOf(id);
    expect(await cli.refused(1, 'orders', verb, id, '--by', 'second')).toContain(
      `Order ${id} is ${state}; only one that`,
    );
    expect(await reviewOf(id)).toEqual(before);
  });

  test('by the OS user unless said', async () => {
    const id = await newOrder();
    const { stdout } = await cli.run('orders', 'confirm', id);
    expect(stdout).toBe(`Order ${id} is confirmed, by operator:${userInfo().username}.\n`);
    expect(await reviewOf(id)).toMatchObject({ reviewed_by: `operator:${userInfo().username}` });
  });

  test('a rejection may have a reason, and what was done is on record', async () => {
    const id = await newOrder();
    await cli.json('orders', 'reject', id, '--by', 'Fatima', '--reason', 'sent twice');
    expect((await cli.run('orders', 'show', id)).stdout).toMatch(/^reason +sent twice$/m);
    await cli.json('orders', 'reopen', id, '--by', 'Omar');
    expect((await cli.run('orders', 'show', id)).stdout).not.toContain('sent twice');
    const events = await cli
      .knex('audit_events')
      .where({ subject: `order:${id}` })
      .orderBy('event_id');
    expect(events).toMatchObject([
      { account_id: kitchen, actor: 'Fatima', action: 'order_rejected', details: { reason: 'sent twice' } },
      { account_id: kitchen, actor: 'Omar', action: 'order_reopened', details: null },
    ]);
  });

  test('an empty --by is a usage error', async () => {
    await cli.refused(2, 'orders', 'confirm', await newOrder(), '--by', ' ');
  });
});

test.each(['show', 'confirm', 'reject', 'reopen'])('%s: unknown fails, no id is a usage error', async (verb) => {
  expect(await cli.refused(1, 'orders', verb, '999999999')).toContain('There is no order 999999999');
  for (const id of ['x', '0', '1.0', '9'.repeat(20)])
    expect(await cli.refused(2, 'orders', verb, id)).toContain('An order id is a whole number');
});

test.each([
  ['--state', 'lost'],
  ['--limit', '-1'],
  ['--needs-review', '--state=rejected'],
])('list %s %s is a usage error', async (...options) => {
  await cli.refused(2, 'orders', 'list', ...options);
});

test('update-severity computes the stored severities again, also in the search', async () => {
  const ready = (await seed.written(kitchen, { ...ORDER, source_order_id: 'ready' })).orderId as number;
  const bare = Number(await newOrder());
  const stored = async () =>
    Object.fromEntries(
      (await cli.knex('orders').whereIn('order_id', [ready, bare])).map((order) => [order.order_id, order.severity]),
    );
  expect(await stored()).toEqual({ [ready]: 'none', [bare]: 'blocks' });
  await cli.knex('orders').whereIn('order_id', [ready, bare]).update({ severity: 'check' });
  const { changed, orders } = await cli.json('orders', 'update-severity');
  expect([changed, orders]).toEqual([2, Number((await cli.knex('orders').count().first())?.count)]);
  expect(await stored()).toEqual({ [ready]: 'none', [bare]: 'blocks' });
  const { words } = await cli.knex('order_words').where({ order_id: bare }).first();
  expect(words).toContain(`'${kitchen}=rest,none,blocks'`);
  expect(await cli.json('orders', 'update-severity')).toMatchObject({ changed: 0 });
});
