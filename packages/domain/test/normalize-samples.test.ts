import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/normalize-order.ts';
import { memberAt } from './read-tables.ts';

type Payload = Record<string, unknown>;
/** `warns`: pointers that must carry a warning; `warnings`: all of them; the rest: members of the order by path. */
type Expected = { warns?: string[]; warnings?: unknown[]; [path: string]: unknown };
type Sample = { about: string; payload: Payload; expect: Expected };

const messy: Sample[] = JSON.parse(readFixture('messy.json'));
const orders: Payload[] = readFixture('orders.ndjson')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

function readFixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
}

describe('a messy payload', () => {
  test.each(messy)('$about', ({ payload, expect: { warns = [], warnings: exactly, ...fields } }) => {
    const { order, warnings } = normalizeOrder(payload);
    const shown = { ...order, total: typeof fields.total === 'number' ? Number(order.total) : order.total };
    for (const [path, value] of Object.entries(fields)) expect([path, memberAt(shown, path)]).toEqual([path, value]);
    expect(warnings.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(warns));
    if (exactly) expect(warnings).toEqual(exactly);
  });
});

describe('300 ordinary orders', () => {
  test('need no correction, and a missing emirate is inferred', () => {
    expect(orders).toHaveLength(300);
    for (const payload of orders) {
      const codes = normalizeOrder(payload).warnings.map(({ code }) => code);
      expect([payload.source_order_id, codes]).toEqual([payload.source_order_id, payload.emirate ? [] : ['inferred']]);
    }
  });

  test('have an emirate, valid phones and totals', () => {
    for (const payload of orders) {
      const { order } = normalizeOrder(payload);
      if (payload.customer) expect(order.customer.phone).toMatch(/^\+9715\d{8}$/);
      expect(order.emirate_code).toMatch(/^AE-[A-Z]{2}$/);
      expect(Number(order.total)).toBe(Number(String(payload.total).replaceAll(',', '')));
      expect(order.items).toEqual(payload.items);
    }
  });
});
