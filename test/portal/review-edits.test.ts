import { describe, expect, test } from '@jest/globals';
import { insertOrder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const { knex, shop } = useStack({ portal: true, shop: true });

const ITEMS = [
  { name: 'Karak', quantity: 2, sku: null },
  { name: 'Water', quantity: 1, sku: 'W-1' },
];
const insert = (columns: Record<string, unknown> = {}) =>
  insertOrder(knex, shop.account.id, { items: JSON.stringify(ITEMS), total: '12.50', ...columns });
const edit = (id: number, edits: object, expected?: object) => shop.patch(`/orders/${id}`, { edits, expected });
const show = async (id: number) => (await shop.get(`/orders/${id}`)).body;

describe('an edit', () => {
  test('with values that cannot be read names each of them and stores nothing', async () => {
    const id = await insert();
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
    const id = await insert();
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
    const id = await insert();
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
    const id = await insert({ customer_phone: 'call me', emirate: 'Atlantis' });
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
