import type { FieldMapping, ItemsMapping, JoinedValue, OrderMapping } from './mapping.ts';
import { PICKUP } from './presets/addresses.ts';
import { OF_ATTRIBUTES, SHOPIFY_CASH } from './presets/shopify.ts';
import type { SourceSettings } from './settings.ts';

/** A table that a shop's own program exports, with one row for each item. Its headings tell it from others. */
export interface ShopExport {
  name: string;
  headings: readonly string[];
  /** What the rows of one order have in common. */
  key: FieldMapping;
  /** A column with a line `name: value` for each of several facts: its mapping reads them in the list `/note_attributes`. */
  attributes?: string;
  /** Which orders have nothing to deliver. */
  settings: Pick<SourceSettings, 'ignoredIf' | 'finishedIf' | 'cancelledIf'>;
  /** Of the columns of an order; its rows are the list `/rows`. */
  mapping: OrderMapping & { items: ItemsMapping };
}

type Names = (field: string) => string;

/** With the country, as in the presets. */
const emirateIn = (at: Names, states: readonly string[], city: string, countries: readonly string[]): JoinedValue => ({
  join: [[...states, city].map(at), countries.map(at)],
  separator: ', ',
});

const shopifyAddresses = ['Shipping', 'Billing'].map(
  (address): Names =>
    (field) =>
      `/${address} ${field}`,
);

/** https://help.shopify.com/en/manual/fulfillment/managing-orders/exporting-orders */
const SHOPIFY: ShopExport = {
  name: 'Shopify: orders',
  headings: ['Name', 'Financial Status', 'Lineitem name', 'Lineitem quantity'],
  // Only the first row of an order has the id.
  key: '/Name',
  attributes: '/Note Attributes',
  settings: {
    finishedIf: { pointer: '/Fulfillment Status', values: ['fulfilled'] },
    cancelledIf: { pointer: '/Cancelled at' },
  },
  mapping: {
    source_order_id: ['/Id', '/Name'],
    order_number: '/Name',
    customer: {
      name: ['/Shipping Name', '/Billing Name'],
      phone: ['/Shipping Phone', '/Phone', '/Billing Phone'],
      email: '/Email',
    },
    address: shopifyAddresses.map((at) => ({
      join: [at('Company'), [at('Address1'), at('Street')], at('Address2')],
      separator: ', ',
    })),
    emirate: shopifyAddresses.map((at) => emirateIn(at, ['Province Name', 'Province'], 'City', ['Country'])),
    area: shopifyAddresses.map((at) => at('City')),
    items: {
      list: '/rows',
      name: '/Lineitem name',
      quantity: '/Lineitem quantity',
      sku: '/Lineitem sku',
      omit_if_zero: '/Lineitem quantity',
      except: { '/Lineitem name': ['Tip'] },
    },
    total: '/Total',
    currency: '/Currency',
    payment_state: [
      {
        constant: 'cash_on_delivery',
        if: { '/Financial Status': ['pending'], '/Payment Method': SHOPIFY_CASH },
      },
      '/Financial Status',
    ],
    delivery_time: OF_ATTRIBUTES.time,
    delivery_method: [{ constant: 'pickup', if: { '/Shipping Method': PICKUP } }, OF_ATTRIBUTES.method],
    delivery_instructions: '/Notes',
    details: [
      OF_ATTRIBUTES.others,
      { label: 'Shipping', value: '/Shipping Method' },
      { label: 'Payment', value: '/Payment Method' },
      { label: 'Coupon', value: '/Discount Code' },
    ],
  },
};

/** WooCommerce's statuses as the programs below write them: their names, in English and Arabic, or as WooCommerce stores them. */
const WOOCOMMERCE_STATUSES = {
  ignored: ['checkout-draft', 'wc-checkout-draft', 'draft', 'auto-draft', 'trash', 'مسودة'],
  finished: [
    ...['completed', 'wc-completed', 'refunded', 'wc-refunded', 'مكتمل', 'مسترد', 'مسترجع'],
    ...['shipped', 'wc-shipped', 'dispatched', 'out for delivery', 'wc-out-for-delivery', 'delivered', 'wc-delivered'],
  ],
  cancelled: ['cancelled', 'canceled', 'wc-cancelled', 'ملغي', 'ملغى'],
  unpaid: ['pending', 'pending payment', 'wc-pending', 'failed', 'wc-failed', 'on-hold', 'on hold', 'wc-on-hold'],
  paid: ['processing', 'wc-processing'],
};
const WOOCOMMERCE_CASH = ['cod', 'cash on delivery', 'الدفع عند الاستلام', 'الدفع نقدًا عند الاستلام'];
const WOOCOMMERCE_PICKUP = ['local pickup', 'pickup', 'local_pickup', 'pickup_location', 'استلام محلي'];

function woocommerceSettings(status: string): ShopExport['settings'] {
  return {
    ignoredIf: { pointer: status, values: WOOCOMMERCE_STATUSES.ignored },
    finishedIf: { pointer: status, values: WOOCOMMERCE_STATUSES.finished },
    cancelledIf: { pointer: status, values: WOOCOMMERCE_STATUSES.cancelled },
  };
}

function woocommercePayment(status: string, ...methods: readonly string[]): FieldMapping {
  return [
    ...methods.map((method) => ({ constant: 'cash_on_delivery', if: { [method]: WOOCOMMERCE_CASH } })),
    { constant: 'unpaid', if: { [status]: WOOCOMMERCE_STATUSES.unpaid } },
    { constant: 'paid', if: { [status]: WOOCOMMERCE_STATUSES.paid } },
  ];
}

const advancedAddresses = ['Shipping', 'Billing'].map(
  (address): Names =>
    (field) =>
      `/${field} (${address})`,
);

/** The headings are the default ones, and those of fields that its settings offer. https://wordpress.org/plugins/woo-order-export-lite */
const ADVANCED_ORDER_EXPORT: ShopExport = {
  name: 'WooCommerce: Advanced Order Export',
  headings: ['Order Number', 'Order Status', 'Item Name', 'Order Total Amount'],
  key: '/Order Number',
  settings: woocommerceSettings('/Order Status'),
  mapping: {
    source_order_id: ['/Order ID', '/Order Number'],
    order_number: '/Order Number',
    customer: {
      name: advancedAddresses.flatMap((at) => [at('Full Name'), { join: [at('First Name'), at('Last Name')] }]),
      phone: ['/Phone (Shipping)', '/Phone (Billing)'],
      email: '/Email (Billing)',
    },
    address: advancedAddresses.map((at) => ({
      join: [at('Company'), [at('Address 1&2'), at('Address 1')], at('Address 2')],
      separator: ', ',
    })),
    emirate: advancedAddresses.map((at) =>
      emirateIn(at, ['State Name', 'State Code'], 'City', ['Country Code', 'Country Name']),
    ),
    area: advancedAddresses.map((at) => at('City')),
    items: {
      list: '/rows',
      name: '/Item Name',
      quantity: ['/Quantity (- Refund)', '/Quantity'],
      sku: '/SKU',
      omit_if_zero: '/Quantity (- Refund)',
    },
    total: ['/Order Total Amount (- Refund)', '/Order Total Amount'],
    currency: '/Order Currency',
    payment_state: woocommercePayment('/Order Status', '/Payment Method', '/Payment Method Title'),
    delivery_method: { constant: 'pickup', if: { '/Shipping Method Title': WOOCOMMERCE_PICKUP } },
    delivery_instructions: '/Customer Note',
    details: [
      { label: 'Shipping', value: '/Shipping Method Title' },
      { label: 'Payment', value: '/Payment Method Title' },
      { label: 'Coupon', value: '/Coupon Code' },
    ],
  },
};

const customerAddresses = ['shipping', 'billing'].map(
  (address): Names =>
    (field) =>
      `/${address}_${field}`,
);

/** With the format "One row per item". https://woocommerce.com/document/ordercustomer-csv-export */
const CUSTOMER_ORDER_EXPORT: ShopExport = {
  name: 'WooCommerce: Customer/Order/Coupon Export',
  headings: ['order_id', 'status', 'item_name', 'item_quantity', 'billing_first_name'],
  key: '/order_id',
  settings: woocommerceSettings('/status'),
  mapping: {
    source_order_id: '/order_id',
    order_number: ['/order_number_formatted', '/order_number', '/order_id'],
    customer: {
      name: customerAddresses.flatMap((at) => [at('full_name'), { join: [at('first_name'), at('last_name')] }]),
      phone: ['/shipping_phone', '/billing_phone'],
      email: '/billing_email',
      id: '/customer_id',
    },
    address: customerAddresses.map((at) => ({
      join: [at('company'), at('address_1'), at('address_2')],
      separator: ', ',
    })),
    emirate: customerAddresses.map((at) => emirateIn(at, ['state', 'state_code'], 'city', ['country'])),
    area: customerAddresses.map((at) => at('city')),
    items: { list: '/rows', name: '/item_name', quantity: '/item_quantity', sku: '/item_sku' },
    total: '/order_total',
    currency: '/order_currency',
    payment_state: woocommercePayment('/status', '/payment_method', '/payment_method_title'),
    delivery_method: { constant: 'pickup', if: { '/shipping_method': WOOCOMMERCE_PICKUP } },
    delivery_instructions: '/customer_note',
    details: [
      { label: 'Shipping', value: '/shipping_method' },
      { label: 'Payment', value: ['/payment_method_title', '/payment_method'] },
    ],
  },
};

export const SHOP_EXPORTS: readonly ShopExport[] = [SHOPIFY, ADVANCED_ORDER_EXPORT, CUSTOMER_ORDER_EXPORT];

/** Finds the export that a table is by its headings; null if it is none. */
export function recognizeExport(headings: readonly string[]): ShopExport | null {
  return SHOP_EXPORTS.find((shop) => shop.headings.every((heading) => headings.includes(heading))) ?? null;
}
