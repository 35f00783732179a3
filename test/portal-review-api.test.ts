import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPerson, type PortalClient, signIn } from './harness/people.ts';
import type { RunningIntake, RunningPortal, Stack, TestAccount } from './harness/stack.ts';
import { startStack } from './harness/stack.ts';

let stack: Stack;
let portal: RunningPortal;
let intake: RunningIntake;

beforeAll(async () => {
  stack = await startStack('postgres');
  [portal, intake] = await Promise.all([stack.portal(), stack.intake(), stack.worker()]);
});
afterAll(() => stack.close());

/** An account, its signed-in holder, and a way to its part of the portal. */
async function openShop() {
  const account = await stack.account({ signing: true });
  const person = await createPerson(stack, account.id);
  const client = await signIn(portal, person);
  const base = `/accounts/${account.id}`;
  return { account, person, client, base, ...below(client, base) };
}

function below(client: PortalClient, base: string) {
  return {
    get: (path: string) => client.get(`${base}${path}`),
    post: (path: string, body: object) => client.post(`${base}${path}`, body),
    patch: (path: string, body: object) => client.patch(`${base}${path}`, body),
  };
}

let sent = 0;
async function send(account: TestAccount, order: Record<string, unknown> = {}, via: 'order' | 'webhook' = 'order') {
  sent += 1;
  const whole = { source_order_id: `SHOP-${String(sent).padStart(6, '0')}`, ...order };
  const { body } = await intake.api[via](account, whole, { Prefer: 'wait=20' });
  expect(body.status).toBe('written');
  return body.order_id as number;
}

test('first', async () => {
  const shop = await openShop();
  const id = await send(shop.account, {
    customer: { name: 'محمد الهاشمي', phone: '050 123 4567' },
    emirate: 'Atlantis',
  });
  const list = await shop.get('/orders');
  expect([list.status, list.body]).toEqual([
    200,
    { orders: [expect.objectContaining({ order_id: id })], next_cursor: null },
  ]);
  const one = await shop.get(`/orders/${id}`);
  console.log(JSON.stringify(one.body, null, 1));
  for (const q of [
    '4567',
    '0501234567',
    '050 123 4567',
    '+971501234567',
    'SHOP-0000',
    '000001',
    'محمد',
    'الهاش',
    'هاشم',
    '050 123 45',
  ])
    console.log(q, (await shop.get(`/orders?q=${encodeURIComponent(q)}`)).body.orders.length);
  console.log((await shop.patch(`/orders/${id}`, { edits: { '/emirate': 'Dubai', '/foo': 1 } })).body);
  console.log(JSON.stringify((await shop.patch(`/orders/${id}`, { edits: { '/emirate': 'Dubai' } })).body));
  console.log((await shop.post(`/orders/review`, { order_ids: [id], to: 'confirmed' })).body);
  console.log((await shop.post(`/orders/review/undo`, { order_ids: [id] })).body);
  console.log((await shop.post(`/orders/review`, { order_ids: [id], to: 'rejected', reason: 'x' })).body);
  console.log(
    (await shop.get(`/orders?state=rejected&q=4567&written_after=2020-01-01T00:00:00Z&emirate=AE-DU`)).body.orders
      .length,
  );
  console.log(
    (await shop.get(`/orders/counts`)).body,
    (await shop.get(`/orders/new?after=0&state=rejected`)).body.orders.length,
  );
  console.log(JSON.stringify((await shop.get(`/orders/${id}`)).body.history));
});
