import { describe, expect, test } from '@jest/globals';
import { createLargeOrderMaker, ORDER_SIZES } from '../src/large-orders.ts';

const MAX_BODY_BYTES = 262_144;

describe.each(ORDER_SIZES)('orders of %s', (size) => {
  const make = createLargeOrderMaker(size);
  const orders = Array.from({ length: 20 }, (_, number) => make(`m1-${number}`, number));
  const items = orders.map((order) => JSON.parse(order).items.length as number);

  test('have their own ids and are accepted', () => {
    expect(orders.map((order) => JSON.parse(order).source_order_id)).toEqual(orders.map((_, number) => `m1-${number}`));
    expect(Math.max(...orders.map((order) => Buffer.byteLength(order)))).toBeLessThanOrEqual(MAX_BODY_BYTES);
    expect(Math.max(...items)).toBeLessThanOrEqual(1000);
  });

  test('are as large as they are called', () => {
    if (size.endsWith('items')) expect(new Set(items)).toEqual(new Set([1000]));
    for (const order of size.endsWith('KB') ? orders : []) {
      const kibibytes = Buffer.byteLength(order) / 1024;
      expect(kibibytes).toBeGreaterThan(Number.parseInt(size, 10) * 0.97);
      expect(kibibytes).toBeLessThanOrEqual(Number.parseInt(size, 10));
    }
  });
});
