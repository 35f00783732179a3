import type { ConstantValue, JoinedValue } from '../mapping.ts';
import type { PresetDefinition } from '../settings.ts';

/** A member of the order, which `order.status.updated` has one level deeper than the other events. */
const at = (member: string) => [`/data/order/${member}`, `/data/${member}`];
const STATUS = at('status/slug');

/** A payment state of orders with one of these statuses or methods. */
const paidAs = (constant: string, slugs?: readonly string[], methods?: readonly string[]): ConstantValue[] =>
  ['/data/order', '/data'].map((order) => ({
    constant,
    if: {
      ...(slugs && { [`${order}/status/slug`]: slugs }),
      ...(methods && { [`${order}/payment_method`]: methods }),
    },
  }));
const joined = (members: readonly string[], separator?: string): JoinedValue => ({
  join: members.map(at),
  ...(separator !== undefined && { separator }),
});

/**
 * Salla's webhooks, version 2: https://docs.salla.dev/421119m0 (signature), https://docs.salla.dev/433804m0 (the order's events).
 * The statuses are the `slug` of https://docs.salla.dev/api-5394150; a status that the shop made has the slug of the one it belongs to.
 */
export const SALLA: PresetDefinition = {
  settings: {
    signature: { scheme: 'hmac', header: 'x-salla-signature', algorithm: 'sha256', encoding: 'hex' },
    topic: { pointer: '/event' },
    topics: {
      order: [
        'order.created',
        'order.updated',
        'order.status.updated',
        'order.payment.updated',
        'order.products.updated',
        'order.coupon.updated',
        'order.total.price.updated',
        'order.shipping.address.updated',
        'order.refunded',
      ],
      cancellation: ['order.cancelled', 'order.deleted'],
    },
    // Drafts of the dashboard, and customers who ask for a price.
    ignoredIf: { pointer: [...at('draft'), ...STATUS], values: [true, 'request_quote'] },
    finishedIf: {
      pointer: STATUS,
      values: ['completed', 'delivering', 'shipped', 'delivered', 'restoring', 'restored'],
    },
    cancelledIf: { pointer: STATUS, values: ['canceled'] },
    // When the event happened: the order itself only says when it was placed.
    modifiedAt: { pointer: '/created_at' },
  },
  mapping: {
    source_order_id: at('id'),
    order_number: at('reference_id'),
    customer: {
      name: [
        ...at('shipping/receiver/name'),
        joined(['customer/first_name', 'customer/last_name']),
        ...at('customer/name'),
      ],
      phone: [...at('shipping/receiver/phone'), joined(['customer/mobile_code', 'customer/mobile'], '')],
      email: at('customer/email'),
      id: at('customer/id'),
    },
    // The only member with the number of the house, beside street, district, city and country.
    address: [
      ...at('shipping/address/shipping_address'),
      joined(['shipping/address/street_number', 'shipping/address/block'], ', '),
    ],
    emirate: joined(['shipping/address/city', 'shipping/address/country'], ', '),
    area: [...at('shipping/address/block'), ...at('shipping/address/city')],
    items: {
      list: at('items'),
      name: {
        join: [
          '/name',
          // A choice is an object, what the customer wrote is a text.
          { each: '/options', label: '/name', value: ['/value/name', '/value/0/name', '/value'] },
          '/notes',
        ],
        separator: ', ',
      },
      quantity: '/quantity',
      sku: '/sku',
    },
    total: at('amounts/total/amount'),
    currency: at('currency'),
    payment_state: [
      ...paidAs('refunded', ['restored']),
      ...paidAs('cash_on_delivery', undefined, ['cod']),
      // A transfer that nobody has checked yet.
      ...paidAs('unpaid', ['under_review'], ['bank']),
      ...paidAs('unpaid', ['payment_pending']),
      ...paidAs('paid', ['under_review', 'in_progress', 'completed', 'delivering', 'shipped', 'delivered']),
    ],
    // The time of a product that is booked.
    delivery_time: joined(
      ['product_reservations/0/date', 'product_reservations/0/from', 'product_reservations/0/to'],
      ', ',
    ),
    // Only of members that each event has, as details that are left out count as removed.
    details: [
      { label: 'Shipping', value: at('shipping/company') },
      { label: 'Payment', value: at('payment_method') },
      { label: 'Coupon', value: at('amounts/discounts/0/code') },
    ],
  },
};
