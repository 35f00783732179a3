import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { meansNothing, removeForbidden } from '../src/normalize/text.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import type { NormalizedOrder } from '../src/order.ts';
import { Problem } from '../src/problems.ts';
import { validateOrder, validateStrictly } from '../src/validate-order.ts';
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
  test('never throws for any JSON object', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        normalizeOrder(payload);
      }),
      RUNS,
    );
  });

  test('gives the same order for the same payload, and does not change the payload', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const before = structuredClone(payload);
        expect(normalizeOrder(payload)).toEqual(normalizeOrder(structuredClone(payload)));
        expect(payload).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  test('does not change its own output', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const once = normalizeOrder(payload);
        expect(normalizeOrder(toPayload(once)).order).toEqual(once.order);
      }),
      // Cut to 16 characters, it means nothing.
      { ...RUNS, examples: [[{ source_order_id: '!', currency: '-'.repeat(51) }]] },
    );
  });

  test('returns no string that Postgres rejects', () => {
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

  test('points each warning at an existing place of the payload', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const lost = normalizeOrder(payload).warnings.filter(({ pointer }) => !exists(pointer, payload));
        expect(lost).toEqual([]);
      }),
      RUNS,
    );
  });

  test('returns values of the documented form', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const { order } = normalizeOrder(payload);
        if (order.total !== null) expect(order.total).toMatch(/^\d{1,15}(\.\d{1,6})?$/);
        if (order.emirate_code !== null) expect(order.emirate_code).toMatch(/^AE-(AZ|AJ|DU|FU|RK|SH|UQ)$/);
        for (const { quantity } of order.items) {
          expect([quantity, quantity === null || (Number.isSafeInteger(quantity) && quantity > 0)]).toEqual([
            quantity,
            true,
          ]);
        }
        expect(order.currency).not.toBe('');
        expect(JSON.stringify(order)).not.toContain('undefined');
      }),
      RUNS,
    );
  });

  test('keeps every item that is an object or a visible string, in order', () => {
    const kept = (text: string) => (meansNothing(removeForbidden(text)) ? '' : removeForbidden(text));
    const isItem = (entry: unknown) =>
      typeof entry === 'string'
        ? kept(entry) !== ''
        : typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    fc.assert(
      fc.property(fc.oneof(anyPayload, mutatedOrder), (payload: Payload) => {
        // A list in a list is read as one.
        fc.pre(Array.isArray(payload.items) && !Array.isArray(payload.items[0]));
        const entries = (payload.items as unknown[]).filter(isItem);
        const { items } = normalizeOrder(payload).order;
        expect(items).toHaveLength(entries.length);
        for (const [index, entry] of entries.entries()) {
          const name = typeof entry === 'string' ? entry : (entry as Payload).name;
          // Without the amount that stands behind it.
          const [stored = ''] = (items[index]?.name ?? '').split(/(?:^| )× (?=[^×]*$)/);
          if (typeof name === 'string' && name.length <= 400) expect(stored).toBe(kept(name));
          else if (typeof name === 'string') expect(removeForbidden(name).slice(0, stored.length)).toBe(stored);
        }
      }),
      RUNS,
    );
  });
});

describe('strict handling', () => {
  test('rejects exactly what causes a warning in lenient handling', () => {
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

  test('adds its errors to those of lenient handling', () => {
    const errors = problemOf(() => validateStrictly({ source_order_id: 7, gift: true }))?.errors ?? [];
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/source_order_id not_a_string',
      '/gift unknown_field',
    ]);
  });

  test('rejects more than 1,000 items with one error', () => {
    const items = Array.from({ length: 87_000 }, () => ({}));
    expect(problemOf(() => validateStrictly({ source_order_id: 'a', items }))?.errors).toEqual([
      { pointer: '/items', code: 'too_many_items', detail: 'More than 1,000 items.' },
    ]);
  });

  test('describes each error without its value', () => {
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
