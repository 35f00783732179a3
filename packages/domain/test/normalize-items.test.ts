import { describe, expect, test } from '@jest/globals';
import { normalize } from './normalize-one-field.ts';

describe('items', () => {
  test.each([[null], [undefined], [''], [[]]])('%p are none', (items) => {
    expect(normalize({ items })).toMatchObject({ order: { items: [] }, warned: [] });
  });

  test('may be one text', () => {
    expect(normalize({ items: 'soup' })).toMatchObject({
      order: { items: [{ name: 'soup', quantity: null, sku: null }] },
      warned: ['/items item_as_text'],
    });
  });

  test('may be one object; its warnings point to where it was sent', () => {
    expect(normalize({ items: { name: 'Soup', quantity: '2' } })).toMatchObject({
      order: { items: [{ name: 'Soup', quantity: 2 }] },
      warned: ['/items items_not_a_list', '/items/quantity quantity_from_text'],
    });
  });

  test('may be of several kinds; what is none is dropped with a warning', () => {
    const { order, warned } = normalize({ items: ['Soup', { name: 'Tea', price: 5 }, 7, null, ['x'], {}] });
    expect(order.items).toEqual([
      { name: 'Soup', quantity: null, sku: null },
      { name: 'Tea', quantity: null, sku: null },
      { name: null, quantity: null, sku: null },
    ]);
    expect(warned).toEqual([
      '/items/0 item_as_text',
      '/items/1/price unknown_field',
      '/items/2 not_an_item',
      '/items/3 not_an_item',
      '/items/4 not_an_item',
    ]);
  });

  test('may have a number as sku', () => {
    expect(normalize({ items: [{ name: 'Tea', sku: 4711 }] })).toMatchObject({
      order: { items: [{ sku: '4711' }] },
      warned: ['/items/0/sku number_as_text'],
    });
  });
});

describe('a quantity', () => {
  test.each<[unknown, number | null, string]>([
    [2, 2, ''],
    [null, null, ''],
    ['', null, ''],
    ['2', 2, 'quantity_from_text'],
    [' 2.0 ', 2, 'quantity_from_text'],
    ['٢', 2, 'quantity_from_text'],
    [0, null, 'quantity_unreadable'],
    [-1, null, 'quantity_unreadable'],
    [1.5, null, 'quantity_unreadable'],
    ['1.5', null, 'quantity_unreadable'],
    ['two', null, 'quantity_unreadable'],
    [true, null, 'quantity_unreadable'],
    [[2], null, 'quantity_unreadable'],
    [Number.POSITIVE_INFINITY, null, 'quantity_unreadable'],
    [2 ** 53, null, 'quantity_unreadable'],
    ['9007199254740993', null, 'quantity_unreadable'],
  ])('%p is %p', (sent, quantity, code) => {
    const { order, warned } = normalize({ items: [{ name: 'Soup', quantity: sent }] });
    expect(order.items).toEqual([{ name: 'Soup', quantity, sku: null }]);
    expect(warned).toEqual(code ? [`/items/0/quantity ${code}`] : []);
  });
});
