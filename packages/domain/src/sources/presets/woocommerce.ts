import type { FoundValue, OrderMapping } from '../mapping.ts';
import type { PresetDefinition } from '../settings.ts';
import { emirateOf, nameIn, PICKUP } from './addresses.ts';

/** What plugins add, by its key. */
const meta = (...keys: string[]): FoundValue => ({ find: '/meta_data', where: { '/key': keys }, value: '/value' });

/** Under which keys plugins store when the customer wants an order. */
const DATES = [
  ...['_delivery_date', 'delivery_date', 'Delivery Date', 'pickup_date', 'Pickup Date'],
  ...['jckwds_date', '_orddd_timestamp_date', 'pi_delivery_date', 'pi_system_delivery_date', 'orderable_order_date'],
  ...['lpac_dps_delivery_date', 'lpac_dps_pickup_date', 'byconsolewooodt_delivery_date', 'ywcdd_order_delivery_date'],
];
const TIMES = [
  ...['_delivery_time', 'delivery_time', 'Delivery Time', 'pickup_time', 'Pickup Time', 'Time Slot'],
  ...['jckwds_timeslot', '_orddd_time_slot', 'pi_delivery_time', 'orderable_order_time', 'lpac_dps_delivery_time'],
  ...['lpac_dps_pickup_time', 'byconsolewooodt_delivery_time'],
];
/** Under which keys they store whether it is picked up. */
const METHODS = ['delivery_type', 'pi_delivery_type', 'lpac_dps_order_type', 'byconsolewooodt_delivery_type'];
/** Statuses of plugins that follow parcels. */
const ON_ITS_WAY = ['shipped', 'dispatched', 'out-for-delivery', 'delivered'];

/** An order of WooCommerce's REST API, versions 1 to 3, as its webhooks send it. */
const MAPPING: OrderMapping = {
  source_order_id: '/id',
  order_number: '/number',
  customer: {
    name: [nameIn('/shipping'), nameIn('/billing')],
    phone: ['/shipping/phone', '/billing/phone'],
    email: '/billing/email',
    id: '/customer_id',
  },
  address: ['/shipping', '/billing'].map((address) => ({
    join: [`${address}/company`, `${address}/address_1`, `${address}/address_2`],
    separator: ', ',
  })),
  emirate: emirateOf(['/shipping', '/billing'], 'address_1', 'state', 'country'),
  area: ['/shipping/city', '/billing/city'],
  items: {
    list: '/line_items',
    // With the attributes of a variation and what plugins ask, such as a text for a cake.
    name: {
      join: ['/name', { each: '/meta_data', label: ['/display_key', '/key'], value: ['/display_value', '/value'] }],
      separator: ', ',
    },
    quantity: '/quantity',
    sku: '/sku',
  },
  total: '/total',
  currency: '/currency',
  payment_state: [
    { constant: 'refunded', if: { '/status': ['refunded'] } },
    { constant: 'cash_on_delivery', if: { '/payment_method': ['cod'] } },
    { constant: 'unpaid', if: { '/status': ['pending', 'failed', 'on-hold'] } },
    { constant: 'paid', if: { '/status': ['processing', 'completed', ...ON_ITS_WAY] } },
    // A status of a plugin says nothing, so what WooCommerce itself knows counts.
    { constant: 'unpaid', if: { '/needs_payment': [true] } },
    { constant: 'paid', except: { '/date_paid': [null] } },
  ],
  delivery_time: { join: [meta(...DATES), meta(...TIMES)], separator: ', ' },
  delivery_method: [
    {
      constant: 'pickup',
      if: { '/shipping_lines/0/method_id': ['local_pickup', 'pickup_location', 'local_pickup_plus'] },
    },
    { find: '/meta_data', where: { '/key': METHODS, '/value': PICKUP }, value: '/value' },
  ],
  delivery_instructions: '/customer_note',
  details: [
    { label: 'Shipping', value: '/shipping_lines/0/method_title' },
    {
      label: 'Pickup',
      value: [
        { find: '/shipping_lines/0/meta_data', where: { '/key': ['pickup_location'] }, value: '/value' },
        meta('pickup_location', 'Pickup Location', 'lpac_dps_pickup_location', 'byconsolewooodt_pickup_location'),
      ],
    },
    { label: 'Payment', value: '/payment_method_title' },
    { label: 'Coupon', value: '/coupon_lines/0/code' },
    { label: 'Fee', value: '/fee_lines/0/name' },
    { label: 'Gift message', value: meta('gift_message', '_gift_message', 'Gift Message', '_wc_gift_message') },
  ],
};

/** https://woocommerce.com/document/webhooks */
export const WOOCOMMERCE: PresetDefinition = {
  settings: {
    signature: { scheme: 'hmac', header: 'x-wc-webhook-signature', algorithm: 'sha256', encoding: 'base64' },
    // No delivery id: WooCommerce gives all deliveries of a webhook in one second the same one (`WC_Webhook::get_new_delivery_id`).
    topic: { header: 'x-wc-webhook-topic' },
    topics: { order: ['order.created', 'order.updated'], cancellation: [] },
    // Carts of its checkout, and orders that somebody enters or deleted.
    ignoredIf: { pointer: '/status', values: ['checkout-draft', 'auto-draft', 'draft', 'new', 'trash'] },
    finishedIf: { pointer: '/status', values: ['completed', 'refunded', ...ON_ITS_WAY] },
    cancelledIf: { pointer: '/status', values: ['cancelled'] },
    modifiedAt: { pointer: ['/date_modified_gmt', '/date_modified'] },
  },
  mapping: MAPPING,
};
