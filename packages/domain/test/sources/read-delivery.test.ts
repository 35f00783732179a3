import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PRESETS } from '../../src/sources/presets.ts';
import { parseDelivery, readDelivery } from '../../src/sources/read-delivery.ts';
import type { SourceSettings } from '../../src/sources/settings.ts';

const CUSTOM = PRESETS.custom;
const kindOf = (order: object, changed: Partial<SourceSettings>, { settings, mapping } = CUSTOM, headers = {}) =>
  readDelivery(Buffer.from(JSON.stringify(order)), headers, {
    settings: { ...settings, ...changed },
    mapping,
    idPrefix: '',
  }).kind;

test.each([
  ['2026-11-28T10:00:00Z', true],
  ['yes', true],
  [true, true],
  [1, true],
  [1_790_000_000, true],
  ['', false],
  ['  ', false],
  [null, false],
  [undefined, false],
  [false, false],
  [0, false],
  ['0', false],
  ['false', false],
  ['None', false],
  ['1970-01-01T00:00:00Z', false],
  ['1970-01-01T04:00:00+04:00', false],
  ['0000-00-00 00:00:00', false],
  ['0001-01-01T00:00:00', false],
])('without values, cancelled_at %p means cancelled: %p', (cancelled_at, isCancelled) => {
  const kind = kindOf({ source_order_id: 'a', cancelled_at }, { cancelledIf: { pointer: '/cancelled_at' } });
  expect(kind).toBe(isCancelled ? 'cancellation' : 'order');
});

test.each([
  ['void', 'cancellation'],
  [9, 'cancellation'],
  [true, 'cancellation'],
  ['open', 'order'],
  [8, 'order'],
  [null, 'order'],
])('with values, the state %p means: %s', (state, kind) => {
  const cancelledIf = { pointer: '/state', values: ['void', 9, true] };
  expect(kindOf({ source_order_id: 'a', state }, { cancelledIf })).toBe(kind);
});

test.each([
  [{}, 'ignored'],
  [{ ordered_at: '' }, 'ignored'],
  [{ order: { ordered_at: null }, ordered_at: null }, 'ignored'],
  [{ order: { ordered_at: '2026-11-01' } }, 'order'],
  [{ ordered_at: '2026-11-01' }, 'order'],
])('with the value null for two pointers, %j means: %s', (document, kind) => {
  const ignoredIf = { pointer: ['/order/ordered_at', '/ordered_at'], values: [null] };
  expect(kindOf({ source_order_id: 'a', ...document }, { ignoredIf })).toBe(kind);
});

test.each([
  ['checkout-draft', 'ignored'],
  ['auto-draft', 'ignored'],
  ['draft', 'ignored'],
  ['new', 'ignored'],
  ['trash', 'ignored'],
  ['cancelled', 'cancellation'],
  ['pending', 'order'],
  ['processing', 'order'],
  ['completed', 'finished'],
  ['refunded', 'finished'],
])('an order of WooCommerce with the status %s is: %s', (status, kind) => {
  for (const topic of ['order.created', 'order.updated'])
    expect(kindOf({ id: 1, status }, {}, PRESETS.woocommerce, { 'x-wc-webhook-topic': topic })).toBe(kind);
});

test.each([
  ['fulfilled', 'finished'],
  ['partial', 'order'],
  [null, 'order'],
])('an order of Shopify with the fulfillment %p is: %s', (fulfillment_status, kind) => {
  expect(kindOf({ id: 1, fulfillment_status }, {}, PRESETS.shopify, { 'x-shopify-topic': 'orders/updated' })).toBe(
    kind,
  );
});

test.each([
  ['orders/cancelled', '2026-11-28T10:00:00Z', 'cancellation'],
  ['orders/cancelled', null, 'order'],
  ['orders/cancelled', undefined, 'order'],
  ['orders/updated', '2026-11-28T10:00:00Z', 'cancellation'],
  ['orders/create', '2026-11-28T10:00:00Z', 'order'],
  ['orders/delete', '2026-11-28T10:00:00Z', 'ignored'],
])('a delivery of Shopify with the topic %s and cancelled_at %p is: %s', (topic, cancelled_at, kind) => {
  expect(kindOf({ id: 1, cancelled_at }, {}, PRESETS.shopify, { 'x-shopify-topic': topic })).toBe(kind);
});

test.each([
  ['of a header, without a limit', { header: 'x-event' }, {}, 'order'],
  ['of a header, limited to others', { header: 'x-event' }, { topics: ['changed'] }, 'cancellation'],
  ['of the signed body', { pointer: '/event' }, {}, 'cancellation'],
])('a topic of cancellation %s, whose body does not say so', (_, topic, limit, kind) => {
  const settings = {
    topic: topic as SourceSettings['topic'] & object,
    topics: { order: ['changed'], cancellation: ['gone'] },
    cancelledIf: { pointer: '/state', values: ['void'], ...limit },
  };
  const order = { source_order_id: 'a', state: 'open', event: 'gone' };
  expect(kindOf(order, settings, CUSTOM, { 'x-event': 'gone' })).toBe(kind);
});

test.each([
  [-300_000_000_000, null],
  ['0001-01-01T00:00:00', null],
  [0, null],
  [1_793_523_600, '2026-11-01T09:00:00.000Z'],
  [1_793_523_600_000, '2026-11-01T09:00:00.000Z'],
  ['1793523600', '2026-11-01T09:00:00.000Z'],
  ['1793523600000', '2026-11-01T09:00:00.000Z'],
  ['20261101', null],
  ['Sun, 01 Nov 2026 09:00:00 GMT', '2026-11-01T09:00:00.000Z'],
  ['Sun, 1 Nov 2026 13:00:00 +0400', '2026-11-01T09:00:00.000Z'],
  ['Sun, 99 Nov 2026 13:00:00 +0400', null],
  ['2099-01-01T00:00:00Z', null],
])('the time of modification %p is %p: none before 1980 is one, and none that is days ahead', (time, expected) => {
  const body = Buffer.from(JSON.stringify({ source_order_id: 'a', time }));
  const settings = { ...CUSTOM.settings, modifiedAt: { pointer: '/time' } };
  const { modifiedAt } = readDelivery(body, {}, { settings, mapping: CUSTOM.mapping, idPrefix: '' });
  expect(modifiedAt?.toISOString() ?? null).toBe(expected);
});

const numberText = fc
  .tuple(fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,18})?$/), fc.stringMatching(/^([eE][+-]?\d{1,3})?$/))
  .map((parts) => parts.join(''));
const stringText = fc
  .oneof(
    fc.string({ unit: fc.constantFrom('"', '\\', '1234567890123456', '1e5', ',', ':', '\u{1f600}', '\n') }),
    numberText,
  )
  .map((value) => JSON.stringify(value));
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    stringText,
    fc.array(tie('value')).map((values) => `[${values.join(', ')}]`),
    // Without duplicate names: beside them, V8 does not always pass the source of a value to a reviver.
    fc
      .uniqueArray(fc.tuple(stringText, tie('value')), { selector: ([name]) => JSON.parse(name) })
      .map((members) => `{${members.map((pair) => pair.join(': ')).join()}}`),
  ),
}));

/** Simpler than `parseDelivery`, and slower. */
function withReviver(text: string): unknown {
  return JSON.parse(text, (_name, value, { source = '' }: { source?: string } = {}) => {
    const isExact = Number.isFinite(value) && (source.split(/[eE]/)[0] ?? '').replace(/\D/g, '').length <= 15;
    return typeof value === 'number' && !isExact ? source : value;
  });
}

test('only numbers that would lose digits become strings, wherever they are', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const body = `{"a": ${text}}`;
      expect(parseDelivery(Buffer.from(body))).toEqual(withReviver(body));
    }),
    { numRuns: 2_000 },
  );
});
