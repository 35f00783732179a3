import { beforeAll, expect, test } from '@jest/globals';
import { hold, whoWait } from '../harness/barriers.ts';
import { erase } from '../harness/erasure.ts';
import { below, createPerson, openShop, type ShopClient, signIn, type TestPerson } from '../harness/people.ts';
import { insertOrder } from '../harness/review-list.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

let colleague: ShopClient;
let second: TestPerson;

const { stack, knex, portal, shop } = useStack({ portal: true, shop: true });

beforeAll(async () => {
  second = await createPerson(stack, shop.account.id);
  colleague = below(await signIn(portal, second), shop.account.id);
});

const insert = (columns: Record<string, unknown> = {}) => insertOrder(knex, shop.account.id, columns);
const printOf = async (client: ShopClient, id: number) => (await client.get(`/orders/${id}`)).body.print;

test('each print is counted and recorded; everybody sees the first one and how many there are', async () => {
  const id = await insert();
  expect(await printOf(shop, id)).toBeNull();
  const first = await shop.post(`/orders/${id}/prints`);
  const printed_by = shop.person.email;
  expect([first.status, first.body]).toEqual([201, { number: 1, printed_at: expect.any(String), printed_by }]);
  const { printed_at } = first.body;
  expect(await printOf(colleague, id)).toEqual({ printed_at, printed_by, count: 1 });
  expect((await colleague.post(`/orders/${id}/prints`)).body).toEqual({ number: 2, printed_at, printed_by });
  expect(await printOf(shop, id)).toEqual({ printed_at, printed_by, count: 2 });
  const [action, subject] = ['order_printed', `order:${id}`];
  expect(await listChanges(knex, shop.account.id, 2)).toEqual([
    { actor: second.email, action, subject, details: { print_number: 2 } },
    { actor: printed_by, action, subject, details: { print_number: 1 } },
  ]);
  const { history } = (await shop.get(`/orders/${id}`)).body;
  expect(history.map((entry: { action: string }) => entry.action)).toEqual([action, action]);
});

test('two people who print at once get different numbers, and one of them the first', async () => {
  const id = await insert();
  const held = await hold(knex, 'lock table order_prints in access exclusive mode');
  const printing = [shop, colleague].map((client) => client.post(`/orders/${id}/prints`));
  await whoWait(knex, 2, 'relation');
  await held.release();
  const numbers = (await Promise.all(printing)).map(({ body }) => body.number);
  expect(numbers.toSorted()).toEqual([1, 2]);
  const printed = (await Promise.all(printing)).map(({ body }) => [body.printed_at, body.printed_by]);
  expect(printed[0]).toEqual(printed[1]);
});

test.each(['confirmed', 'rejected', 'cancelled'])('an order that is %s can be printed', async (review_state) => {
  const id = await insert({ review_state });
  expect((await shop.post(`/orders/${id}/prints`)).body.number).toBe(1);
});

test('an order of another account, or of none, is not printed', async () => {
  const id = await insert();
  const other = await openShop(stack, portal);
  const theirs = below(other.client, shop.account.id);
  const replies = [
    await other.post(`/orders/${id}/prints`),
    await shop.post('/orders/999999999/prints'),
    await shop.post('/orders/x/prints'),
    await theirs.post(`/orders/${id}/prints`),
  ];
  expect(replies.map(({ status, body }) => [status, body.code])).toEqual([
    [404, 'order_not_found'],
    [404, 'order_not_found'],
    [404, 'order_not_found'],
    [404, 'account_not_found'],
  ]);
  expect(await knex('order_prints').where({ order_id: id })).toEqual([]);
});

test('a viewer cannot record a print', async () => {
  const id = await insert();
  const viewer = await createPerson(stack, shop.account.id, 'viewer');
  const client = below(await signIn(portal, viewer), shop.account.id);
  const { status, body } = await client.post(`/orders/${id}/prints`);
  expect([status, body.code]).toEqual([403, 'not_permitted']);
  expect(await printOf(client, id)).toBeNull();
});

test('prints are deleted with the customer, whose order is not printed again', async () => {
  const id = await insert({ customer_phone: '+971508277163' });
  await shop.post(`/orders/${id}/prints`);
  expect(await erase(stack, shop.account, '--phone', '050 827 7163')).toMatchObject({ orders: 1 });
  expect(await knex('order_prints').where({ order_id: id })).toEqual([]);
  const { status, body } = await shop.post(`/orders/${id}/prints`);
  expect([status, body.code]).toEqual([409, 'conflicting_state']);
});
