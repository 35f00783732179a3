import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/index.ts';

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

/** The member at a path such as "items.0.quantity". */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => (inner as Payload)[name], value);
}

describe('a messy payload', () => {
  test.each(messy)('$about', ({ payload, expect: { warns = [], warnings: exactly, ...fields } }) => {
    const { order, warnings } = normalizeOrder(payload);
    const shown = { ...order, total: typeof fields.total === 'number' ? Number(order.total) : order.total };
    for (const [path, value] of Object.entries(fields)) expect([path, at(shown, path)]).toEqual([path, value]);
    expect(warnings.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(warns));
    if (exactly) expect(warnings).toEqual(exactly);
  });
});

describe('300 ordinary orders', () => {
  test('need no mending', () => {
    expect(orders).toHaveLength(300);
    expect(orders.flatMap((order) => normalizeOrder(order).warnings)).toEqual([]);
  });

  test('have readable phones, emirates and totals wherever they name one', () => {
    for (const payload of orders) {
      const { order } = normalizeOrder(payload);
      if (payload.customer) expect(order.customer.phone).toMatch(/^\+9715\d{8}$/);
      if (payload.emirate) expect(order.emirate_code).toMatch(/^AE-[A-Z]{2}$/);
      expect(Number(order.total)).toBe(Number(String(payload.total).replaceAll(',', '')));
      expect(order.items).toEqual(payload.items);
    }
  });
});
