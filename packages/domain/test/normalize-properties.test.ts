import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type NormalizedOrder, normalizeOrder, Problem, validateOrder, validateStrictly } from '../src/index.ts';
import { removeForbidden } from '../src/normalize/text.ts';
import { anyPayload, anything, mutatedOrder } from './arbitrary-payload.ts';

const RUNS = { numRuns: 3_000 };

type Payload = Record<string, unknown>;

/** The payload a client would send to say exactly what the order says. */
function toPayload({ order }: NormalizedOrder): Payload {
  const { emirate_code: _, ...payload } = order;
  return JSON.parse(JSON.stringify(payload));
}

function everyString(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(everyString) : [];
}

/** Whether a pointer (RFC 6901) leads to something in `document`. */
function exists(pointer: string, document: unknown): boolean {
  let at = document;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Payload)[name];
  }
  return true;
}

function problemOf(check: () => void): Problem | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe('normalizeOrder', () => {
  test('never throws, whatever JSON object it is given', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        normalizeOrder(payload);
      }),
      RUNS,
    );
  });

  test('gives the same order for the same payload, and leaves the payload as it was', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const before = structuredClone(payload);
        expect(normalizeOrder(payload)).toEqual(normalizeOrder(structuredClone(payload)));
        expect(payload).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  test('changes nothing about its own output', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const once = normalizeOrder(payload);
        expect(normalizeOrder(toPayload(once)).order).toEqual(once.order);
      }),
      RUNS,
    );
  });

  test('puts nothing into order or warnings that Postgres refuses', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const refused = everyString(normalizeOrder(payload)).filter(
          (text) => !text.isWellFormed() || text.includes('\0'),
        );
        expect(refused).toEqual([]);
      }),
      RUNS,
    );
  });

  test('points its warnings at something that exists in the payload', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const lost = normalizeOrder(payload).warnings.filter(({ pointer }) => !exists(pointer, payload));
        expect(lost).toEqual([]);
      }),
      RUNS,
    );
  });

  test('keeps the shape it promises', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const { order } = normalizeOrder(payload);
        if (order.total !== null) expect(order.total).toMatch(/^\d{1,15}(\.\d{1,6})?$/);
        if (order.emirate_code !== null) expect(order.emirate_code).toMatch(/^AE-(AZ|AJ|DU|FU|RK|SH|UQ)$/);
        for (const { quantity } of order.items) {
          expect(quantity === null || (Number.isSafeInteger(quantity) && quantity > 0)).toBe(true);
        }
        expect(order.currency).not.toBe('');
        expect(JSON.stringify(order)).not.toContain('undefined');
      }),
      RUNS,
    );
  });

  test('loses no item: every object and every text that says something is one, in its order', () => {
    const isItem = (entry: unknown) =>
      typeof entry === 'string'
        ? removeForbidden(entry) !== ''
        : typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    fc.assert(
      fc.property(fc.oneof(anyPayload, mutatedOrder), (payload: Payload) => {
        fc.pre(Array.isArray(payload.items));
        const entries = (payload.items as unknown[]).filter(isItem);
        const { items } = normalizeOrder(payload).order;
        expect(items).toHaveLength(entries.length);
        for (const [index, entry] of entries.entries()) {
          const name = typeof entry === 'string' ? entry : (entry as Payload).name;
          const kept = items[index]?.name ?? '';
          if (typeof name === 'string' && name.length <= 500) expect(kept).toBe(removeForbidden(name));
          else if (typeof name === 'string') expect(removeForbidden(name).startsWith(kept)).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

describe('strict handling', () => {
  test('refuses exactly what lenient handling warns of', () => {
    fc.assert(
      fc.property(fc.oneof(anyPayload, mutatedOrder), (payload) => {
        expect(problemOf(() => validateOrder(payload))).toBeUndefined();
        const { warnings } = normalizeOrder(payload);
        const refused = problemOf(() => validateStrictly(payload))?.errors ?? [];
        const placeAndKind = ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`;
        expect(refused.map(placeAndKind)).toEqual(warnings.map(placeAndKind));
      }),
      RUNS,
    );
  });

  test('adds to what is refused anyway', () => {
    const errors = problemOf(() => validateStrictly({ source_order_id: 7, gift: true }))?.errors ?? [];
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/source_order_id not_a_string',
      '/gift unknown_field',
    ]);
  });

  test('refuses more than 1,000 items with one error', () => {
    const items = Array.from({ length: 87_000 }, () => ({}));
    expect(problemOf(() => validateStrictly({ source_order_id: 'a', items }))?.errors).toEqual([
      { pointer: '/items', code: 'too_many_items', detail: 'More than 1,000 items.' },
    ]);
  });

  test('says what is wrong, and repeats no value', () => {
    const items = [{ name: 'Soup', quantity: 1.5 }];
    expect(problemOf(() => validateStrictly({ source_order_id: 'a', items }))?.errors).toEqual([
      {
        pointer: '/items/0/quantity',
        code: 'quantity_unreadable',
        detail: 'The quantity is not a whole number above zero.',
      },
    ]);
  });
});
