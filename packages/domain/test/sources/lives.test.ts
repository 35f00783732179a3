import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { readLife } from '../../src/sources/platform-states.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { readDelivery } from '../../src/sources/read-delivery.ts';
import type { SourcePreset } from '../../src/sources/settings.ts';
import { recordedDelivery } from '../recorded-deliveries.ts';

type Json = Record<string, unknown>;

/** What a delivery is, and the order in it. */
function read(preset: SourcePreset, delivery: unknown) {
  const body = Buffer.from(JSON.stringify(delivery));
  const { kind, modifiedAt, payload } = readDelivery(body, {}, { ...PRESETS[preset], idPrefix: '' });
  const { order } = normalizeOrder({ ...payload });
  return { kind, modifiedAt: modifiedAt?.toISOString(), order, payment: order.payment_state };
}

describe('Salla', () => {
  const { event: _, ...envelope } = recordedDelivery('salla/order') as { data: Json } & Json;
  const order = envelope.data;
  const delivered = (event: string, changed: Json = {}) => ({ event, ...envelope, data: { ...order, ...changed } });
  /** As `order.status.updated` has it: one level deeper, below an id of its own. */
  const activity = (slug: string, changed: Json = {}) => ({
    event: 'order.status.updated',
    ...envelope,
    data: { id: 198290473, status: 'تم', order: { ...order, ...changed, status: { slug } } },
  });
  const status = (slug: string, changed: Json = {}) => ({ ...changed, status: { slug } });

  test.each<[string, [delivery: Json, kind: string, payment: string | null][]]>([
    [
      'by card, paid late, edited, delivered, returned',
      [
        [delivered('order.created', status('payment_pending', { payment_method: 'mada' })), 'order', 'unpaid'],
        [delivered('order.payment.updated', status('under_review', { payment_method: 'mada' })), 'order', 'paid'],
        [delivered('order.products.updated', status('under_review', { payment_method: 'mada' })), 'order', 'paid'],
        [activity('in_progress', { payment_method: 'mada' }), 'order', 'paid'],
        [activity('completed', { payment_method: 'mada' }), 'finished', 'paid'],
        [activity('delivering', { payment_method: 'mada' }), 'finished', 'paid'],
        [activity('delivered', { payment_method: 'mada' }), 'finished', 'paid'],
        [activity('restoring', { payment_method: 'mada' }), 'finished', null],
        [delivered('order.refunded', status('restored', { payment_method: 'mada' })), 'finished', 'refunded'],
      ],
    ],
    [
      'by a transfer that the shop checks, then cancelled and wanted again',
      [
        [delivered('order.created'), 'order', 'unpaid'],
        [activity('in_progress'), 'order', 'paid'],
        [activity('canceled'), 'cancellation', null],
        [delivered('order.cancelled', status('canceled')), 'cancellation', null],
        [delivered('order.updated', status('canceled')), 'cancellation', null],
        [activity('in_progress'), 'order', 'paid'],
      ],
    ],
    [
      'in cash',
      [
        [delivered('order.created', { payment_method: 'cod' }), 'order', 'cash_on_delivery'],
        [activity('in_progress', { payment_method: 'cod' }), 'order', 'cash_on_delivery'],
        [activity('delivered', { payment_method: 'cod' }), 'finished', 'cash_on_delivery'],
        [activity('restored', { payment_method: 'cod' }), 'finished', 'refunded'],
      ],
    ],
    [
      'that is none yet, or no more',
      [
        [delivered('order.created', { draft: true }), 'ignored', 'unpaid'],
        [delivered('order.created', status('request_quote')), 'ignored', null],
        [delivered('order.deleted', { status: { slug: null } }), 'cancellation', null],
        [{ ...delivered('abandoned.cart') }, 'ignored', 'unpaid'],
        [{ ...delivered('order.shipment.creating') }, 'ignored', 'unpaid'],
      ],
    ],
  ])('an order %s', (_name, life) => {
    const seen = life.map(([delivery]) => read('salla', delivery));
    expect(seen.map(({ kind, payment }) => [kind, payment])).toEqual(life.map(([, kind, payment]) => [kind, payment]));
    for (const { order } of seen) expect(order.source_order_id).toBe('2116149737');
  });

  test('a change of the status changes only the payment, though it has less of the order', () => {
    const { order: created } = read('salla', recordedDelivery('salla/order'));
    const { order: changed, modifiedAt } = read('salla', recordedDelivery('salla/status-updated'));
    expect(changed).toEqual({ ...created, payment_state: 'paid' });
    expect(modifiedAt).toBe('2026-11-01T09:30:00.000Z');
  });

  test.each([
    ['Sun Nov 01 2026 12:15:03 GMT+0300', '2026-11-01T09:15:03.000Z'],
    ['2026-11-01T12:15:03+03:00', '2026-11-01T09:15:03.000Z'],
    ['Sun Nov 01 2026', undefined],
    ['Xyz Abc 99 2026 12:15:03 GMT+0300', undefined],
    ['12', undefined],
  ])('an event of %s happened at %s', (created_at, time) => {
    expect(read('salla', { ...delivered('order.created'), created_at }).modifiedAt).toBe(time);
  });

  test('without a receiver, the customer is taken, and a booked time is the time of delivery', () => {
    const product_reservations = [{ id: 1, from: '01:10', to: '01:40', date: '2026-11-05' }];
    const { order } = read('salla', delivered('order.created', { shipping: null, product_reservations }));
    expect(order).toMatchObject({
      customer: { name: 'عائشة خان', phone: '+971501234567' },
      address: null,
      delivery_time: '2026-11-05, 01:10, 01:40',
    });
  });
});

describe('Zid', () => {
  const order = recordedDelivery('zid/order');
  const changed = (code: string, more: Json = {}) => ({ ...order, order_status: { name: '', code }, ...more });
  const card = { payment: { method: { code: 'zidpay', type: 'cc' } } };
  const paid = { ...card, payment_status: 'paid' };

  test.each<[string, [delivery: Json, kind: string, payment: string | null][]]>([
    [
      'by card, paid late, prepared, delivered, returned',
      [
        [changed('new', card), 'order', 'unpaid'],
        [changed('failed', card), 'order', 'unpaid'],
        [changed('new', paid), 'order', 'paid'],
        [changed('preparing', paid), 'order', 'paid'],
        [changed('ready', paid), 'order', 'paid'],
        [changed('inDelivery', paid), 'finished', 'paid'],
        [changed('indelivery', paid), 'finished', 'paid'],
        [changed('delivered', paid), 'finished', 'paid'],
        [changed('reverse_in_progress', paid), 'finished', 'paid'],
        [changed('reversed', paid), 'finished', 'refunded'],
      ],
    ],
    [
      'in cash, cancelled in either spelling, and wanted again',
      [
        [changed('new'), 'order', 'cash_on_delivery'],
        [changed('canceled'), 'cancellation', 'cash_on_delivery'],
        [changed('cancelled'), 'cancellation', 'cash_on_delivery'],
        [changed('new'), 'order', 'cash_on_delivery'],
        [changed('delivered', { payment_status: 'paid' }), 'finished', 'paid'],
      ],
    ],
    ['that nobody paid', [[changed('expired', card), 'cancellation', 'unpaid']]],
    [
      'that is refunded',
      [
        [changed('refunded', paid), 'finished', 'refunded'],
        [changed('delivered', { ...card, payment_status: 'refunded' }), 'finished', 'refunded'],
        [changed('new', { ...card, payment_status: 'voided' }), 'order', 'unpaid'],
      ],
    ],
    ['with a status of the shop', [[changed('8812', paid), 'order', 'paid']]],
  ])('an order %s', (_name, life) => {
    const seen = life.map(([delivery]) => read('zid', delivery));
    expect(seen.map(({ kind, payment }) => [kind, payment])).toEqual(life.map(([, kind, payment]) => [kind, payment]));
  });

  test('the time of modification has no zone and is UTC', () => {
    expect(read('zid', order).modifiedAt).toBe('2026-11-01T09:15:06.000Z');
  });

  test('without a street, and with a masked address, what is known stays', () => {
    const shipping = {
      address: {
        formatted_address: 'N/A',
        street: '',
        district: 'Khalifa City',
        city: { name: 'Abu Dhabi' },
        country: { name: 'الإمارات' },
      },
    };
    expect(read('zid', { ...order, shipping }).order).toMatchObject({
      emirate_code: 'AE-AZ',
      area: 'Khalifa City',
      address: 'Abu Dhabi',
    });
  });
});

test('the life of a platform follows the settings and the mapping that a source has', () => {
  const { settings, mapping } = PRESETS.zid;
  expect(readLife('zid', PRESETS.zid)).toContainEqual({
    says: ['canceled', 'expired', 'voided', 'denied'],
    kind: 'cancellation',
    payment_state: null,
  });
  const own = {
    settings: { ...settings, cancelledIf: { pointer: '/order_status/code', values: ['denied'] } },
    mapping,
  };
  expect(readLife('zid', own)).toContainEqual({ says: ['denied'], kind: 'cancellation', payment_state: null });
  expect(readLife('custom', PRESETS.custom)).toEqual([]);
  const waiting = { settings: { ...settings, waitUntilPaid: true }, mapping };
  expect(readLife('zid', waiting)[0]).toEqual({
    says: ['new + pending', 'failed + pending'],
    kind: 'unpaid',
    payment_state: 'unpaid',
  });
});
