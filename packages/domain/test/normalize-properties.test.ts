import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type NormalizedOrder, normalizeOrder } from '../src/index.ts';
import { anyJsonObject, anyPayload } from './arbitrary-payload.ts';

const RUNS = { numRuns: 2_000 };

/** The payload a client would send to say exactly what the order says. */
function toPayload({ order }: NormalizedOrder): Record<string, unknown> {
  const { emirate_code: _, ...payload } = order;
  return JSON.parse(JSON.stringify(payload));
}

function everyString(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(everyString) : [];
}

describe('normalizeOrder', () => {
  test('never throws, whatever JSON object it is given', () => {
    fc.assert(
      fc.property(fc.oneof(anyJsonObject, anyPayload), (payload) => {
        normalizeOrder(payload);
      }),
      RUNS,
    );
  });

  test('gives the same order for the same payload, and leaves the payload as it was', () => {
    fc.assert(
      fc.property(anyPayload, (payload) => {
        const before = structuredClone(payload);
        expect(normalizeOrder(payload)).toEqual(normalizeOrder(structuredClone(payload)));
        expect(payload).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  test('changes nothing about its own output', () => {
    fc.assert(
      fc.property(fc.oneof(anyPayload, anyJsonObject), (payload) => {
        const once = normalizeOrder(payload);
        expect(normalizeOrder(toPayload(once)).order).toEqual(once.order);
      }),
      RUNS,
    );
  });

  test('puts nothing into order or warnings that Postgres refuses', () => {
    fc.assert(
      fc.property(fc.oneof(anyPayload, anyJsonObject), (payload) => {
        const refused = everyString(normalizeOrder(payload)).filter(
          (text) => !text.isWellFormed() || text.includes('\0'),
        );
        expect(refused).toEqual([]);
      }),
      RUNS,
    );
  });

  test('keeps the shape it promises', () => {
    fc.assert(
      fc.property(fc.oneof(anyPayload, anyJsonObject), (payload) => {
        const { order } = normalizeOrder(payload);
        if (order.total !== null) expect(order.total).toMatch(/^\d{1,15}(\.\d{1,6})?$/);
        for (const { quantity } of order.items) {
          expect(quantity === null || (Number.isSafeInteger(quantity) && quantity > 0)).toBe(true);
        }
        expect(order.currency).not.toBe('');
        expect(JSON.stringify(order)).not.toContain('undefined');
      }),
      RUNS,
    );
  });

  test('loses no item object', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.constantFrom('name', 'quantity', 'sku'), fc.jsonValue())), (items) => {
        expect(normalizeOrder({ source_order_id: 'a', items }).order.items).toHaveLength(items.length);
      }),
    );
  });
});
