import { describe, expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { undoReview } from '@orders/portal/review/undo-review.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { dispatch, extendUndo, insertOrder, makeReviewOlder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const { knex, db, api, shop } = useStack({ intake: true, worker: true, portal: true, shop: true });

const insert = (columns?: Record<string, unknown>) => insertOrder(knex, shop.account.id, columns);
const confirm = (order_ids: number[]) => shop.post('/orders/review', { order_ids, to: 'confirmed' });
const reject = (order_ids: number[], reason: string) =>
  shop.post('/orders/review', { order_ids, to: 'rejected', reason });
/** A statement that takes half a second on a busy machine is canceled, and the undo is repeated. */
const undo = (order_ids: number[]) =>
  until('the undo has time', async () => {
    const reply = await shop.post('/orders/review/undo', { order_ids });
    return reply.status !== 503 && reply;
  });
const show = async (id: number) => (await shop.get(`/orders/${id}`)).body;
const actionsOf = async (id: number) => (await show(id)).history.map(({ action }: { action: string }) => action);
const dispatchable = (ids: number[]) =>
  knex('dispatchable_orders').whereIn('order_id', ids).orderBy('order_id').pluck('order_id');

describe('review', () => {
  test("confirms several orders at once, each recorded once with the user's name", async () => {
    const ids = [await insert(), await insert(), await insert()];
    const [first, second, third] = ids as [number, number, number];
    await reject([second], 'out of stock');
    const { status, body } = await confirm([third, second, first, first]);
    expect([status, body.changed, body.unchanged]).toEqual([
      200,
      [first, third],
      [{ order_id: second, review_state: 'rejected' }],
    ]);
    // Only told while it is possible.
    await makeReviewOlder(knex, [first], -60);
    const { review, history, order } = await show(first);
    expect([order.review_state, review.by, review.reason]).toEqual(['confirmed', shop.person.email, null]);
    expect(Date.parse(review.undo_until) - Date.parse(review.at)).toBe(7000);
    expect(Date.parse(review.undo_until) - Date.parse(body.undo_until)).toBe(60_000);
    expect(history).toEqual([
      { at: expect.any(String), by: shop.person.email, action: 'order_confirmed', reason: null, changes: null },
    ]);
    expect((await confirm([first])).body).toEqual({
      changed: [],
      unchanged: [{ order_id: first, review_state: 'confirmed' }],
      undo_until: null,
    });
    expect(await actionsOf(first)).toEqual(['order_confirmed']);
  });

  test('requires a reason for a rejection, and reopened orders keep the reason in their history', async () => {
    const id = await insert();
    const without = await shop.post('/orders/review', { order_ids: [id], to: 'rejected' });
    expect([without.status, without.body.errors[0].pointer]).toEqual([422, '/reason']);
    for (const to of ['confirmed', 'needs_review']) {
      const refused = await shop.post('/orders/review', { order_ids: [id], to, reason: 'Aisha asked for it' });
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/reason']);
    }
    await reject([id], '  out of stock ');
    expect((await show(id)).review).toMatchObject({ state: 'rejected', reason: 'out of stock' });
    const reopened = await shop.post('/orders/review', { order_ids: [id], to: 'needs_review' });
    expect(reopened.body).toEqual({ changed: [id], unchanged: [], undo_until: null });
    const { review, history } = await show(id);
    expect(review).toMatchObject({ state: 'needs_review', by: shop.person.email, reason: null, undo_until: null });
    expect(history.map(({ action, reason }: { action: string; reason: string }) => [action, reason])).toEqual([
      ['order_reopened', null],
      ['order_rejected', 'out of stock'],
    ]);
  });

  test('does not reject or reopen a confirmed order', async () => {
    const id = await insert();
    await confirm([id]);
    expect((await reject([id], 'late')).body.changed).toEqual([]);
    expect((await shop.post('/orders/review', { order_ids: [id], to: 'needs_review' })).body.changed).toEqual([]);
    expect((await show(id)).order.review_state).toBe('confirmed');
  });

  test.each([
    [{ order_ids: [], to: 'confirmed' }],
    [{ order_ids: ['1'], to: 'confirmed' }],
    [{ order_ids: [1.5], to: 'confirmed' }],
    [{ order_ids: Array.from({ length: 1001 }, (_, n) => n + 1), to: 'confirmed' }],
    [{ order_ids: [1], to: 'lost' }],
    [{ order_ids: [1], to: 'rejected', reason: ' ' }],
    [{ order_ids: [1], to: 'rejected', reason: 'x'.repeat(501) }],
    [{ order_ids: [1], to: 'rejected', reason: 'a\u0000b' }],
    [{ to: 'confirmed' }],
  ])('rejects request %#', async (body) => {
    expect((await shop.post('/orders/review', body)).status).toBe(422);
  });

  test('confirms a thousand orders at once', async () => {
    const ids = await knex
      .raw(
        `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, received_at)
         select ?, 'bulk' || i, 'x', 'rest', gen_random_uuid(), '[]', '[]', 'blocks', 'AED', now() from generate_series(1, 1000) as i
         returning order_id`,
        [shop.account.id],
      )
      .then(({ rows }) => rows.map(({ order_id }: { order_id: number }) => order_id));
    expect((await confirm(ids.toReversed())).body.changed).toEqual(ids);
    await extendUndo(knex, ids);
    expect((await undo(ids)).body.changed).toEqual(ids);
  });
});

describe('races', () => {
  const request = (orderIds: number[], by: string) => ({ accountId: shop.account.id, orderIds, by });

  test('only one of two simultaneous confirmations succeeds, and the other is told', async () => {
    const ids = [await insert(), await insert()];
    const held = await hold(knex, `select from orders where order_id = ${ids[0]} for update`);
    const both = Promise.all([
      reviewOrders(db, { ...request(ids, 'one'), to: 'confirmed' }),
      reviewOrders(db, { ...request(ids.toReversed(), 'two'), to: 'confirmed' }),
    ]);
    await whoWait(knex, 1, 'transactionid');
    await held.release();
    const outcomes = await both;
    expect(outcomes.map((outcome) => outcome?.changed.length).toSorted()).toEqual([0, 2]);
    for (const id of ids) expect(await actionsOf(id)).toEqual(['order_confirmed']);
  });

  test('an edit that waited for a confirmation changes nothing', async () => {
    const id = await insert();
    const trx = await knex.transaction();
    await reviewOrders(connectionOf(trx), { ...request([id], 'one'), to: 'confirmed' });
    const edited = editStoredOrder(db, { ...request([id], 'two'), orderId: id, edits: { '/area': 'Marina' } });
    await whoWait(knex, 1, 'transactionid');
    await trx.commit();
    expect(await edited).toBe('conflict');
    const { order } = await show(id);
    expect([order.area, order.review_state]).toEqual([null, 'confirmed']);
  });
});

describe('undo', () => {
  test('reverts a confirmation and a rejection and is recorded', async () => {
    const [confirmed, rejected, waiting] = [await insert(), await insert(), await insert()];
    await confirm([confirmed]);
    await reject([rejected], 'twice');
    await extendUndo(knex, [confirmed, rejected]);
    const { status, body } = await undo([confirmed, rejected, waiting]);
    expect([status, body]).toEqual([
      200,
      { changed: [confirmed, rejected], unchanged: [{ order_id: waiting, review_state: 'needs_review' }] },
    ]);
    const { order, review } = await show(confirmed);
    expect(order.review_state).toBe('needs_review');
    expect(review).toEqual({ state: 'needs_review', by: null, at: null, reason: null, undo_until: null });
    expect(await actionsOf(rejected)).toEqual(['order_review_undone', 'order_rejected']);
    await makeReviewOlder(knex, [confirmed], 20);
    expect(await dispatchable([confirmed])).toEqual([]);
    expect((await confirm([confirmed])).body.changed).toEqual([confirmed]);
  });

  test('is rejected after eight seconds', async () => {
    const [early, late, rejected] = [await insert(), await insert(), await insert()];
    await confirm([early, late]);
    await reject([rejected], 'late');
    await extendUndo(knex, [early, late, rejected]);
    await makeReviewOlder(knex, [late, rejected], 3608);
    expect((await undo([early, late, rejected])).body).toEqual({
      changed: [early],
      unchanged: [
        { order_id: late, review_state: 'confirmed' },
        { order_id: rejected, review_state: 'rejected' },
      ],
    });
    await dispatch(knex, late);
    expect(await dispatchable([early, late])).toEqual([late]);
  });

  test('of a dispatched order is rejected, whatever the time', async () => {
    const id = await insert();
    await confirm([id]);
    await dispatch(knex, id);
    await knex('orders')
      .where({ order_id: id })
      .update({ reviewed_at: new Date(Date.now() + 3_600_000) });
    expect((await undo([id])).body).toEqual({ changed: [], unchanged: [{ order_id: id, review_state: 'confirmed' }] });
  });

  test('that waits for a lock is judged when it gets the lock', async () => {
    const id = await insert();
    await confirm([id]);
    await extendUndo(knex, [id]);
    const trx = await knex.transaction();
    await trx('orders').where({ order_id: id }).forUpdate().select('order_id');
    const waiting = undoReview(db, { accountId: shop.account.id, orderIds: [id], by: 'late' });
    const [pid = 0] = await whoWait(knex, 1, 'transactionid');
    // The undo time was not over when the transaction of the undo began, and is now.
    await trx.raw(
      `update orders set reviewed_at = (select xact_start - interval '7.999 seconds' from pg_stat_activity where pid = ?)
       where order_id = ?`,
      [pid, id],
    );
    await trx.commit();
    expect((await waiting)?.changed).toEqual([]);
    expect((await show(id)).order.review_state).toBe('confirmed');
  });

  test('that waits for the publisher, which dispatches the order, changes nothing', async () => {
    const id = await insert();
    await confirm([id]);
    await extendUndo(knex, [id]);
    const publisher = await hold(knex, `delete from undispatched_orders where order_id = ${id}`);
    const waiting = undoReview(db, { accountId: shop.account.id, orderIds: [id], by: 'late' });
    await whoWait(knex, 1, 'transactionid');
    await publisher.release();
    expect(await waiting).toEqual({ changed: [], unchanged: [{ order_id: id, review_state: 'confirmed' }] });
  });

  test('never affects an order that a reader of dispatchable_orders saw', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await insert());
    await confirm(ids);
    const seen = new Set<number>();
    const end = new AbortController();
    const follower = (async () => {
      while (!end.signal.aborted) for (const id of await dispatchable(ids)) seen.add(id);
    })();
    // From five seconds before the limit to some after it, so that the undo time ends and the orders become visible in between;
    // on any machine, it is not over for one order, and over for another.
    const ages = ids.map((_, n) => 3 + n / 5);
    [ages[0], ages[39]] = [-3600, 11];
    await Promise.all(ids.map((id, n) => makeReviewOlder(knex, [id], ages[n] as number)));
    const taken = (await Promise.all(ids.map((id) => undo([id])))).flatMap(({ body }) => body.changed as number[]);
    await until('the rest is shown', async () => (await dispatchable(ids)).length === ids.length - taken.length);
    end.abort();
    await follower;
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThan(ids.length);
    expect(taken.filter((id) => seen.has(id))).toEqual([]);
  });
});

describe('editing', () => {
  test('corrects an unreadable field, keeps former values, and updates the search terms', async () => {
    const payload = {
      source_order_id: 'edit-1',
      customer: { name: 'Aisha', phone: 'call me' },
      emirate: 'Atlantis',
      items: [
        { name: 'Karak', quantity: '2' },
        { name: 'Water', quantity: 0 },
      ],
      total: 'free',
    };
    const sent = await api.order(shop.account, payload);
    const { body: written } = await api.final(shop.account, sent.body.receipt_id);
    const path = `/orders/${written.order_id}`;
    const edits = { '/customer/phone': '050 765 4321', '/items/1/quantity': 3, '/emirate': 'dxb' };
    const { status, body } = await shop.patch(path, { edits });
    expect(status).toBe(200);
    expect(body.order).toMatchObject({
      source_order_id: 'edit-1',
      customer: { name: 'Aisha', phone: '+971507654321' },
      emirate: 'Dubai',
      emirate_code: 'AE-DU',
      items: [
        { name: 'Karak', quantity: 2 },
        { name: 'Water', quantity: 3 },
      ],
    });
    expect(body.order.warnings.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])).toEqual([
      ['/items/0/quantity', 'quantity_from_text'],
      ['/total', 'total_unreadable'],
    ]);
    expect(body.raw.text).toBe(JSON.stringify(payload));
    expect(body.history).toEqual([
      {
        at: expect.any(String),
        by: shop.person.email,
        action: 'order_edited',
        reason: null,
        changes: expect.arrayContaining([
          { pointer: '/customer/phone', before: 'call me', after: '+971507654321' },
          { pointer: '/emirate_code', before: null, after: 'AE-DU' },
          { pointer: '/items/1/quantity', before: null, after: 3 },
        ]),
      },
    ]);
    const { items: _items, warnings: _warnings, ...inList } = body.order;
    expect((await shop.get('/orders?q=4321&emirate=AE-DU')).body.orders).toEqual([inList]);
    const { undo: _undo, ...detail } = body;
    expect(await show(written.order_id)).toEqual(detail);
  });

  test.each([
    ['/source_order_id'],
    ['/emirate_code'],
    ['/items/0/quantity'],
    ['/customer'],
    ['/__proto__/polluted'],
    ['area'],
  ])('rejects %s without any change', async (pointer) => {
    const id = await insert();
    const { status, body } = await shop.patch(`/orders/${id}`, { edits: { '/area': 'Marina', [pointer]: 'x' } });
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, 'invalid_request', pointer]);
    const { order, history } = await show(id);
    expect([order.area, history]).toEqual([null, []]);
  });

  test('is possible only for orders that need review', async () => {
    const id = await insert();
    await reject([id], 'twice');
    const { status, body } = await shop.patch(`/orders/${id}`, { edits: { '/area': 'Marina' } });
    expect([status, body.code]).toEqual([409, 'conflicting_state']);
  });

  test('rejects a value that is nested too deep', async () => {
    const deep = JSON.parse('['.repeat(100) + ']'.repeat(100));
    const { status, body } = await shop.patch(`/orders/${await insert()}`, { edits: { '/address': deep } });
    expect([status, body.code]).toEqual([400, 'malformed_body']);
  });

  test('requires at least one edit', async () => {
    expect((await shop.patch(`/orders/${await insert()}`, { edits: {} })).status).toBe(422);
  });
});

const ITEMS = [
  { name: 'Karak', quantity: 2, sku: null },
  { name: 'Water', quantity: 1, sku: 'W-1' },
];
const insertWithItems = (columns: Record<string, unknown> = {}) =>
  insertOrder(knex, shop.account.id, { items: JSON.stringify(ITEMS), total: '12.50', ...columns });
const edit = (id: number, edits: object, expected?: object) => shop.patch(`/orders/${id}`, { edits, expected });

describe('an edit', () => {
  test('with values that cannot be read names each of them and stores nothing', async () => {
    const id = await insertWithItems();
    const edits = {
      '/area': 'Marina',
      '/total': '12.5o',
      '/items/0/quantity': 0,
      '/items/-': { name: 'Tea', quantity: 'x' },
    };
    const { status, body } = await edit(id, edits);
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    const errors = body.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]);
    expect(errors.toSorted()).toEqual([
      ['/items/-/quantity', 'quantity_unreadable'],
      ['/items/0/quantity', 'quantity_unreadable'],
      ['/total', 'total_unreadable'],
    ]);
    const { order, history } = await show(id);
    expect([order.area, order.total, order.items, history]).toEqual([null, '12.50', ITEMS, []]);
  });

  test('of a value that another editor has changed is a conflict and stores nothing', async () => {
    const id = await insertWithItems();
    expect((await edit(id, { '/total': '20' }, { '/total': '12.50' })).status).toBe(200);
    const { status, body } = await edit(id, { '/total': '30' }, { '/total': '12.50' });
    expect([status, body.code]).toEqual([409, 'conflicting_state']);
    expect((await show(id)).order.total).toBe('20');
    expect((await edit(id, { '/items/1': null }, { '/items/1': ITEMS[0] })).status).toBe(409);
    expect((await edit(id, { '/items/1': null }, { '/items/1': ITEMS[1], '/area': null })).status).toBe(200);
    const unknown = await edit(id, { '/total': '1' }, { '/order_id': 1 });
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([422, '/order_id']);
  });

  test('adds, removes and changes items, and its undo restores them', async () => {
    const id = await insertWithItems();
    const { body } = await edit(id, {
      '/items/0': null,
      '/items/1/quantity': 5,
      '/items/-': { name: 'Tea', quantity: '3' },
    });
    expect(body.order.items).toEqual([
      { name: 'Water', quantity: 5, sku: 'W-1' },
      { name: 'Tea', quantity: 3, sku: null },
    ]);
    expect(body.history[0].changes.map(({ pointer }: { pointer: string }) => pointer)).toContain('/items/0/name');
    const undone = await edit(id, body.undo);
    expect([undone.status, undone.body.order.items]).toEqual([200, ITEMS]);
  });

  test('of a value that the sender sent unreadable can be undone', async () => {
    const id = await insertWithItems({ customer_phone: 'call me', emirate: 'Atlantis' });
    const { body } = await edit(id, { '/customer/phone': '0501234567', '/emirate': 'Dubai' });
    expect(body.undo).toEqual({ '/customer/phone': 'call me', '/emirate': 'Atlantis' });
    const undone = await edit(id, body.undo);
    expect([undone.status, undone.body.order.customer.phone, undone.body.order.emirate]).toEqual([
      200,
      'call me',
      'Atlantis',
    ]);
    expect((await edit(id, { '/customer/phone': 'ask her' })).status).toBe(422);
  });
});
