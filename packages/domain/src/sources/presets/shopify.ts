import type { FoundValue, OrderMapping } from '../mapping.ts';
import type { PresetDefinition } from '../settings.ts';
import { emirateOf, nameIn, PICKUP } from './addresses.ts';

/** What shops ask for in the cart, by the names of common apps: a date, a time, and whether it is picked up. */
const attribute = (...names: string[]): FoundValue => ({
  find: '/note_attributes',
  where: { '/name': names },
  value: '/value',
});
/** The names of the cart's attributes that the fields below read. */
const ATTRIBUTES = {
  date: [
    ...['Delivery-Date', 'Delivery Date', 'delivery_date', 'Pickup-Date', 'Pickup Date', 'Shipping-Date', 'Date'],
    ...['Order Due Date', 'تاريخ التوصيل'],
  ],
  time: [
    ...['Delivery-Time', 'Delivery Time', 'delivery_time', 'Pickup-Time', 'Pickup Time', 'Delivery Slot', 'Time Slot'],
    ...['Delivery Time Slot', 'وقت التوصيل'],
  ],
};
/** What Shopify calls a payment at the door. */
export const SHOPIFY_CASH = [
  ...[
    'Cash on Delivery (COD)',
    'Cash on Delivery',
    'cash_on_delivery',
    'COD',
    'Pay on Delivery',
    'Payment on Delivery',
  ],
  ...['الدفع عند الاستلام', 'الدفع نقدًا عند الاستلام', 'الدفع نقدا عند الاستلام'],
];
const METHODS = [
  ...['Checkout-Method', 'Delivery Method', 'Delivery-Method', 'Delivery Type', 'Order Type', 'Order-Type'],
  'طريقة التوصيل',
];

/** What the attributes of the cart say, in the list `/note_attributes`. */
export const OF_ATTRIBUTES = {
  time: { join: [attribute(...ATTRIBUTES.date), attribute(...ATTRIBUTES.time)], separator: ', ' },
  method: { find: '/note_attributes', where: { '/name': METHODS, '/value': PICKUP }, value: '/value' },
  others: {
    each: '/note_attributes',
    label: '/name',
    value: '/value',
    except: { '/name': Object.values(ATTRIBUTES).flat() },
  },
};

/** An order of Shopify's Admin REST API, as its webhooks send it. */
const MAPPING: OrderMapping = {
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
  emirate: emirateOf(['/shipping_address', '/billing_address'], 'address1', 'province', 'country'),
  area: ['/shipping_address/city', '/billing_address/city'],
  items: {
    list: '/line_items',
    // With what the customer wrote or chose, such as an engraving.
    name: {
      join: [['/name', '/title'], { each: '/properties', label: '/name', value: '/value' }],
      separator: ', ',
    },
    quantity: ['/current_quantity', '/quantity'],
    sku: '/sku',
    omit_if_zero: '/current_quantity',
    // Tips, and gift cards, which are sent by e-mail.
    except: { '/name': ['Tip'], '/title': ['Tip'], '/gift_card': [true] },
  },
  total: ['/current_total_price', '/total_price'],
  currency: '/currency',
  payment_state: [
    // The second is what a gift card does not cover.
    ...[0, 1].map((gateway) => ({
      constant: 'cash_on_delivery',
      if: {
        '/financial_status': ['pending', 'partially_paid'],
        [`/payment_gateway_names/${gateway}`]: SHOPIFY_CASH,
      },
    })),
    '/financial_status',
  ],
  delivery_time: OF_ATTRIBUTES.time,
  delivery_method: [
    { constant: 'pickup', if: { '/shipping_lines/0/delivery_category': PICKUP } },
    { constant: 'pickup', if: { '/shipping_lines/0/title': PICKUP } },
    { constant: 'pickup', if: { '/shipping_lines/0/code': PICKUP } },
    OF_ATTRIBUTES.method,
  ],
  delivery_instructions: '/note',
  details: [
    OF_ATTRIBUTES.others,
    { label: 'Shipping', value: '/shipping_lines/0/title' },
    { label: 'Payment', value: '/payment_gateway_names/0' },
    { label: 'Coupon', value: '/discount_codes/0/code' },
  ],
};

/** https://shopify.dev/docs/apps/build/webhooks */
export const SHOPIFY: PresetDefinition = {
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
  mapping: MAPPING,
};
