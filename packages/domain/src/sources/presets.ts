import { ofTextFields } from '../text-fields.ts';
import type { FoundValue, JoinedValue, OrderMapping } from './mapping.ts';
import { SALLA } from './presets/salla.ts';
import { ZID } from './presets/zid.ts';
import type { PresetDefinition, SourcePreset } from './settings.ts';

/** With the country, because codes of states abroad equal those of emirates: AZ is Abu Dhabi and Arizona. */
const emirateIn = (address: string, state: string, country: string): JoinedValue => ({
  join: [[`${address}/${state}`, `${address}/city`], `${address}/${country}`],
  separator: ', ',
});
const nameIn = (address: string): JoinedValue => ({ join: [`${address}/first_name`, `${address}/last_name`] });

/** What shops ask for in the cart, by the names of common apps: a date, a time, and whether it is picked up. */
const attribute = (...names: string[]): FoundValue => ({
  find: '/note_attributes',
  where: { '/name': names },
  value: '/value',
});
/** The names of the cart's attributes that the fields below read. */
const ATTRIBUTES = {
  date: ['Delivery-Date', 'Delivery Date', 'Pickup-Date', 'Pickup Date', 'Date'],
  time: ['Delivery-Time', 'Delivery Time', 'Pickup-Time', 'Pickup Time', 'Delivery Slot', 'Time Slot'],
};
const PICKUP = {
  attributes: ['Checkout-Method', 'Delivery Method', 'Delivery-Method', 'Order Type', 'Order-Type'],
  values: [
    ...['pickup', 'pick up', 'pick-up', 'store pickup', 'pickup in store', 'in-store pickup', 'local pickup'],
    ...['self pickup', 'click and collect', 'استلام', 'استلام من المتجر'],
  ],
};
const meta = (...keys: string[]): FoundValue => ({ find: '/meta_data', where: { '/key': keys }, value: '/value' });

/** An order of Shopify's Admin REST API, as its webhooks send it. */
const SHOPIFY: OrderMapping = {
  source_order_id: '/id',
  order_number: ['/name', '/order_number'],
  customer: {
    name: ['/shipping_address/name', nameIn('/shipping_address'), nameIn('/customer'), '/billing_address/name'],
    phone: ['/shipping_address/phone', '/phone', '/customer/phone', '/billing_address/phone'],
    email: ['/email', '/contact_email', '/customer/email'],
    id: '/customer/id',
  },
  address: ['/shipping_address', '/billing_address'].map((address) => ({
    join: [`${address}/company`, `${address}/address1`, `${address}/address2`],
    separator: ', ',
  })),
  emirate: ['/shipping_address', '/billing_address'].map((address) => emirateIn(address, 'province', 'country')),
  area: ['/shipping_address/city', '/billing_address/city'],
  items: {
    list: '/line_items',
    name: ['/name', { join: ['/title', '/variant_title'], separator: ' - ' }],
    quantity: ['/current_quantity', '/quantity'],
    sku: '/sku',
    omit_if_zero: '/current_quantity',
    // Tips, and gift cards, which are sent by e-mail.
    except: { '/name': ['Tip'], '/title': ['Tip'], '/gift_card': [true] },
  },
  total: ['/current_total_price', '/total_price'],
  currency: '/currency',
  payment_state: [
    {
      constant: 'cash_on_delivery',
      if: {
        '/financial_status': ['pending'],
        '/payment_gateway_names/0': ['Cash on Delivery (COD)', 'Cash on Delivery', 'cash_on_delivery', 'COD'],
      },
    },
    '/financial_status',
  ],
  delivery_time: {
    join: [attribute(...ATTRIBUTES.date), attribute(...ATTRIBUTES.time)],
    separator: ', ',
  },
  delivery_method: [
    { constant: 'pickup', if: { '/shipping_lines/0/delivery_category': PICKUP.values } },
    { constant: 'pickup', if: { '/shipping_lines/0/title': PICKUP.values } },
    { constant: 'pickup', if: { '/shipping_lines/0/code': PICKUP.values } },
    {
      find: '/note_attributes',
      where: { '/name': PICKUP.attributes, '/value': PICKUP.values },
      value: '/value',
    },
  ],
  delivery_instructions: '/note',
  details: [
    {
      each: '/note_attributes',
      label: '/name',
      value: '/value',
      except: { '/name': Object.values(ATTRIBUTES).flat() },
    },
    { label: 'Shipping', value: '/shipping_lines/0/title' },
    { label: 'Payment', value: '/payment_gateway_names/0' },
    { label: 'Coupon', value: '/discount_codes/0/code' },
  ],
};

/** An order of WooCommerce's REST API, versions 1 to 3, as its webhooks send it. */
const WOOCOMMERCE: OrderMapping = {
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
  emirate: ['/shipping', '/billing'].map((address) => emirateIn(address, 'state', 'country')),
  area: ['/shipping/city', '/billing/city'],
  items: { list: '/line_items', name: '/name', quantity: '/quantity', sku: '/sku' },
  total: '/total',
  currency: '/currency',
  payment_state: [
    { constant: 'refunded', if: { '/status': ['refunded'] } },
    { constant: 'cash_on_delivery', if: { '/payment_method': ['cod'] } },
    { constant: 'unpaid', if: { '/status': ['pending', 'failed', 'on-hold'] } },
    { constant: 'paid', if: { '/status': ['processing', 'completed'] } },
  ],
  delivery_time: {
    join: [
      meta(
        '_delivery_date',
        'delivery_date',
        'Delivery Date',
        'jckwds_date',
        '_orddd_timestamp_date',
        'pickup_date',
        'Pickup Date',
      ),
      meta(
        '_delivery_time',
        'delivery_time',
        'Delivery Time',
        'jckwds_timeslot',
        'Time Slot',
        '_orddd_time_slot',
        'pickup_time',
        'Pickup Time',
      ),
    ],
    separator: ', ',
  },
  delivery_method: [
    {
      constant: 'pickup',
      if: { '/shipping_lines/0/method_id': ['local_pickup', 'pickup_location', 'local_pickup_plus'] },
    },
  ],
  delivery_instructions: '/customer_note',
  details: [
    { label: 'Shipping', value: '/shipping_lines/0/method_title' },
    { label: 'Payment', value: '/payment_method_title' },
    { label: 'Coupon', value: '/coupon_lines/0/code' },
    { label: 'Fee', value: '/fee_lines/0/name' },
    { label: 'Gift message', value: meta('gift_message', '_gift_message', 'Gift Message', '_wc_gift_message') },
  ],
};

/** Orders in this service's own format, at the top of the body or below a pointer. */
function ownFormat(...prefixes: string[]): OrderMapping {
  const at = (field: string) => prefixes.map((prefix) => `${prefix}/${field}`);
  return {
    // Not `id`, which may be the id of the event: an unknown format must fail, so that a redrive can map it.
    source_order_id: at('source_order_id'),
    order_number: at('order_number'),
    customer: {
      name: at('customer/name'),
      phone: at('customer/phone'),
      email: at('customer/email'),
      id: at('customer/id'),
    },
    address: at('address'),
    emirate: at('emirate'),
    area: at('area'),
    items: { list: at('items'), name: '/name', quantity: '/quantity', sku: '/sku' },
    total: at('total'),
    currency: at('currency'),
    ...ofTextFields(at),
    details: prefixes.map((prefix) => ({ each: `${prefix}/details`, label: '/label', value: '/value' })),
  };
}

/** The settings and default mapping of each preset. */
export const PRESETS: Readonly<Record<SourcePreset, PresetDefinition>> = {
  // https://shopify.dev/docs/apps/build/webhooks
  shopify: {
    settings: {
      signature: { scheme: 'hmac', header: 'x-shopify-hmac-sha256', algorithm: 'sha256', encoding: 'base64' },
      deliveryId: { header: 'x-shopify-webhook-id' },
      topic: { header: 'x-shopify-topic' },
      topics: { order: ['orders/create', 'orders/updated'], cancellation: ['orders/cancelled'] },
      // Not for orders/create: the order of a test notification is cancelled, and should appear on the list.
      cancelledIf: { pointer: '/cancelled_at', topics: ['orders/updated', 'orders/cancelled'] },
      finishedIf: { pointer: '/fulfillment_status', values: ['fulfilled'] },
      testIf: { pointer: '/test', values: [true] },
      modifiedAt: { pointer: '/updated_at' },
    },
    mapping: SHOPIFY,
  },
  // https://woocommerce.com/document/webhooks
  woocommerce: {
    settings: {
      signature: { scheme: 'hmac', header: 'x-wc-webhook-signature', algorithm: 'sha256', encoding: 'base64' },
      // No delivery id: WooCommerce gives all deliveries of a webhook in one second the same one (`WC_Webhook::get_new_delivery_id`).
      topic: { header: 'x-wc-webhook-topic' },
      topics: { order: ['order.created', 'order.updated'], cancellation: [] },
      // Carts of its checkout, and orders that somebody enters or deleted.
      ignoredIf: { pointer: '/status', values: ['checkout-draft', 'auto-draft', 'draft', 'new', 'trash'] },
      finishedIf: { pointer: '/status', values: ['completed', 'refunded'] },
      cancelledIf: { pointer: '/status', values: ['cancelled'] },
      modifiedAt: { pointer: ['/date_modified_gmt', '/date_modified'] },
    },
    mapping: WOOCOMMERCE,
  },
  salla: SALLA,
  zid: ZID,
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  'standard-webhooks': {
    settings: {
      signature: { scheme: 'standard-webhooks' },
      deliveryId: { header: 'webhook-id' },
      topic: { pointer: '/type' },
      topics: { order: ['order.created', 'order.updated'], cancellation: ['order.cancelled', 'order.canceled'] },
      modifiedAt: { pointer: '/timestamp' },
    },
    mapping: ownFormat('/data'),
  },
  custom: {
    settings: { signature: { scheme: 'hmac', header: 'x-signature', algorithm: 'sha256', encoding: 'hex' } },
    mapping: ownFormat(''),
  },
};
