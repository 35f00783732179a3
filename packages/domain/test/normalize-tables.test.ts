import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { WARNINGS } from '../src/normalize/warnings.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import { memberAt, readTables, toPayload } from './read-tables.ts';

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

const readPage = (name: string) => readFileSync(new URL(`../../../docs/senders/${name}.md`, import.meta.url), 'utf8');
const TABLES = new URL('tables/', import.meta.url);

const sources = [
  { name: 'docs/senders/order-fields.md', markdown: readPage('order-fields') },
  ...readdirSync(TABLES).map((name) => ({ name, markdown: readFileSync(new URL(name, TABLES), 'utf8') })),
].map(({ name, markdown }) => ({ name, rows: readTables(markdown) }));

describe.each(sources)('the rows of $name', ({ rows }) => {
  test.each(rows)('$about', ({ sent, stored, warnings }) => {
    const normalized = normalizeOrder(toPayload(sent));
    const warned = normalized.warnings.map(({ pointer, code }) => `${pointer} ${code}`);
    const found = Object.fromEntries(Object.keys(stored).map((path) => [path, memberAt(normalized.order, path)]));
    expect({ ...found, warned }).toEqual({ ...stored, warned: warnings });
  });
});

test('every file has at least 50 rows', () => {
  expect(sources.filter(({ rows }) => rows.length < 50).map(({ name }) => name)).toEqual([]);
});

test('every warning code has a row', () => {
  const tried = sources.flatMap(({ rows }) => rows.flatMap(({ warnings }) => warnings));
  const codes = new Set(tried.map((warning) => warning.split(' ')[1]));
  expect(Object.keys(WARNINGS).filter((code) => !codes.has(code))).toEqual(['too_many_items', 'more_warnings']);
});
