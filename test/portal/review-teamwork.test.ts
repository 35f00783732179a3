import { describe, expect, test } from '@jest/globals';
import { codeOf } from '../harness/api.ts';
import { hold, lockTables, whoWait } from '../harness/barriers.ts';
import { erase } from '../harness/erasure.ts';
import { below, createPerson, openShop, type ShopClient, signIn } from '../harness/people.ts';
import { extendUndo, insertOrder } from '../harness/review-list.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, shop, colleague } = useStack({ portal: true, shop: true, colleague: true });

const insert = (columns: Record<string, unknown> = {}) => insertOrder(knex, shop.account.id, columns);
const NEWEST = Number.MAX_SAFE_INTEGER;
const poll = async (client: ShopClient, query = '') =>
  (await client.get(`/orders/updates?after=${NEWEST}${query}`)).body;

describe('a poll', () => {
  test('has the decisions of others with their user, and those that were undone', async () => {
    const [first, other] = [await insert(), await insert()];
    const { event_after } = await poll(shop);
    await colleague.post('/orders/review', { order_ids: [first], to: 'confirmed' });
    await colleague.post('/orders/review', { order_ids: [other], to: 'rejected', reason: 'out of stock' });
    const { changed, more_changes } = await poll(shop, `&event_after=${event_after}`);
    const by = colleague.person.email;
    const decided = [
      { order_id: first, review_state: 'confirmed', by, at: expect.any(String) },
      { order_id: other, review_state: 'rejected', by, at: expect.any(String) },
    ];
    expect(changed).toEqual(expect.arrayContaining(decided));
    expect(more_changes).toBe(false);
    await extendUndo(knex, [first]);
    await colleague.post('/orders/review/undo', { order_ids: [first] });
    const undone = (await poll(shop, `&event_after=${event_after}`)).changed;
    expect(undone).toContainEqual({ order_id: first, review_state: 'needs_review', by, at: expect.any(String) });
  });

  test('has orders with new content as they are listed now, if they are in the list or open', async () => {
    const [edited, annotated, confirmed] = [await insert(), await insert(), await insert()];
    await shop.post('/orders/review', { order_ids: [confirmed], to: 'confirmed' });
    const { event_after } = await poll(shop);
    await colleague.patch(`/orders/${edited}`, { edits: { '/area': 'Marina' } });
    for (const id of [annotated, confirmed]) await colleague.post(`/orders/${id}/notes`, { text: 'Called' });
    const idsIn = async (query: string) =>
      (await poll(shop, query)).edited.map(({ order_id }: { order_id: number }) => order_id);
    expect(await idsIn(`&event_after=${event_after}`)).toEqual([annotated, edited]);
    expect(await idsIn(`&event_after=${event_after}&open=${confirmed}`)).toEqual([confirmed, annotated, edited]);
    const list = (await shop.get('/orders?limit=200')).body.orders;
    const { edited: orders } = await poll(shop, `&event_after=${event_after}`);
    for (const order of orders) expect(list).toContainEqual(order);
  });

  test('says that there is more than it has', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 51; n += 1) ids.push(await insert());
    const { event_after } = await poll(shop);
    for (const id of ids) await colleague.post(`/orders/${id}/notes`, { text: 'Called' });
    const { edited, more_changes } = await poll(shop, `&event_after=${event_after}`);
    expect([edited.length, more_changes]).toEqual([50, true]);
  });

  test('a quarter of an hour behind reads none of what happened, and says so; the open order is still there', async () => {
    const [edited, open] = [await insert(), await insert()];
    await colleague.post(`/orders/${edited}/notes`, { text: 'Called' });
    const { event_after } = await poll(shop);
    const idsAfter = async (after: number) => {
      const {
        changed,
        edited: orders,
        more_changes,
        event_after: next,
      } = await poll(shop, `&event_after=${after}&open=${open}`);
      expect([changed, next]).toEqual([expect.any(Array), expect.any(Number)]);
      return { ids: orders.map(({ order_id }: { order_id: number }) => order_id), more_changes };
    };
    expect((await idsAfter(event_after)).ids).toContain(edited);
    for (const after of [0, event_after - 16 * 60_000])
      expect(await idsAfter(after)).toEqual({ ids: [open], more_changes: true });
  });

  test('waits for the earlier ones of its user, and those of others do not wait', async () => {
    const locked = await lockTables(knex, 'changed_deliveries');
    const first = poll(shop);
    await whoWait(knex, 1, 'relation');
    const others = Array.from({ length: 10 }, () => poll(shop));
    const ofColleague = poll(colleague);
    expect(await whoWait(knex, 2, 'relation')).toHaveLength(2);
    await locked.release();
    for (const { event_after } of await Promise.all([first, ofColleague, ...others]))
      expect(event_after).toEqual(expect.any(Number));
  });

  test('has the other users of the list, and the orders that they have open', async () => {
    const id = await insert();
    const seen = (ago: string) => knex('review_presence').update({ seen_at: knex.raw('now() - ?::interval', [ago]) });
    const viewersFor = async (user: ShopClient, ago = '-1 hour') => {
      await seen(ago);
      return (await poll(user)).viewers;
    };
    await poll(shop);
    await poll(colleague, `&open=${id}`);
    expect(await viewersFor(shop)).toEqual([{ name: colleague.person.name, order_id: id }]);
    await poll(colleague);
    expect(await viewersFor(shop)).toEqual([{ name: colleague.person.name, order_id: null }]);
    expect(await viewersFor(colleague)).toEqual([{ name: shop.person.name, order_id: null }]);
    expect(await viewersFor(shop, '10 seconds')).toEqual([]);
    const elsewhere = await openShop(stack, portal);
    expect((await poll(elsewhere)).viewers).toEqual([]);
  });

  test('of a hidden page makes nobody a viewer', async () => {
    await knex('review_presence').delete();
    await poll(shop);
    expect((await poll(colleague, '&background=true')).viewers).toEqual([]);
    expect((await poll(shop)).viewers).toEqual([]);
    await poll(colleague);
    expect((await poll(shop)).viewers).toEqual([{ name: colleague.person.name, order_id: null }]);
  });
});

describe('notes', () => {
  test('are shown oldest first, counted in the list, and audited without their text', async () => {
    const id = await insert();
    expect((await shop.post(`/orders/${id}/notes`, { text: '  Called.\r\nCall again ' })).status).toBe(201);
    const { status, body } = await colleague.post(`/orders/${id}/notes`, { text: 'Reached her' });
    expect(status).toBe(201);
    expect(body.notes).toEqual([
      { note_id: expect.any(Number), at: expect.any(String), by: shop.person.email, text: 'Called.\nCall again' },
      { note_id: expect.any(Number), at: expect.any(String), by: colleague.person.email, text: 'Reached her' },
    ]);
    expect([body.order.note_count, body.history.map(({ action }: { action: string }) => action)]).toEqual([
      2,
      ['order_annotated', 'order_annotated'],
    ]);
    const [listed] = (await shop.get('/orders')).body.orders;
    expect([listed.order_id, listed.note_count]).toEqual([id, 2]);
    const events = await knex('audit_events').where({ subject: `order:${id}` });
    expect(JSON.stringify(events)).not.toMatch(/Call|Reached/);
  });

  test.each([
    [{}],
    [{ text: '' }],
    [{ text: ' \n ' }],
    [{ text: 'x'.repeat(1001) }],
    [{ text: 'a\u0000b' }],
    [{ text: 7 }],
  ])('rejects %j', async (body) => {
    expect(codeOf(await shop.post(`/orders/${await insert()}/notes`, body))).toEqual([422, 'invalid_request']);
  });

  test('about orders of another account are not possible', async () => {
    const [id, other] = [await insert(), await openShop(stack, portal)];
    expect(codeOf(await other.post(`/orders/${id}/notes`, { text: 'x' }))).toEqual([404, 'order_not_found']);
    const theirs = below(other.client, shop.account.id);
    expect(codeOf(await theirs.post(`/orders/${id}/notes`, { text: 'x' }))).toEqual([404, 'account_not_found']);
    expect(await knex('order_notes').where({ order_id: id })).toEqual([]);
  });

  test('are deleted with the customer, who is found in them', async () => {
    const ids = [await insert({ customer_phone: '+971508277163' }), await insert()];
    for (const id of ids) await shop.post(`/orders/${id}/notes`, { text: 'Her other number is 050 827 7163' });
    expect(await erase(stack, shop.account, '--phone', '050 827 7163')).toMatchObject({ orders: 2 });
    expect(await knex('order_notes').whereIn('order_id', ids)).toEqual([]);
    for (const id of ids)
      expect(codeOf(await shop.post(`/orders/${id}/notes`, { text: 'x' }))).toEqual([409, 'conflicting_state']);
  });
});

test("an account's name is for its users and for operators", async () => {
  const path = `/accounts/${shop.account.id}`;
  const operator = await signIn(portal, await createPerson(stack, null));
  const { name } = await knex('accounts').where({ account_id: shop.account.id }).first();
  for (const client of [shop.client, operator])
    expect((await client.get(path)).body).toMatchObject({ account_id: shop.account.id, name, suspended: false });
  const other = await openShop(stack, portal);
  expect(codeOf(await other.client.get(path))).toEqual([404, 'account_not_found']);
  expect(codeOf(await operator.get('/accounts/2147483647'))).toEqual([404, 'account_not_found']);
});

describe('prints', () => {
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
      { actor: colleague.person.email, action, subject, details: { print_number: 2 } },
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
    expect(replies.map(codeOf)).toEqual([
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
    expect(codeOf(await client.post(`/orders/${id}/prints`))).toEqual([403, 'not_permitted']);
    expect(await printOf(client, id)).toBeNull();
  });

  test('prints are deleted with the customer, whose order is not printed again', async () => {
    const id = await insert({ customer_phone: '+971508277163' });
    await shop.post(`/orders/${id}/prints`);
    expect(await erase(stack, shop.account, '--phone', '050 827 7163')).toMatchObject({ orders: 1 });
    expect(await knex('order_prints').where({ order_id: id })).toEqual([]);
    expect(codeOf(await shop.post(`/orders/${id}/prints`))).toEqual([409, 'conflicting_state']);
  });
});
