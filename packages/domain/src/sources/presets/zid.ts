import type { PresetDefinition } from '../settings.ts';

/**
 * Zid's webhooks: https://docs.zid.sa/webhooks and https://docs.zid.sa/webhook-events-order (the order, which is the whole body, without
 * the name of the event), https://docs.zid.sa/create-a-webhook (user name and password, which it sends back). Each status is listed in both
 * spellings that its documents have.
 */
export const ZID: PresetDefinition = {
  settings: {
    signature: { scheme: 'basic' },
    finishedIf: {
      pointer: '/order_status/code',
      values: [
        'indelivery',
        'delivered',
        'refunded',
        'reversed',
        'chargeback',
        'reverse_in_progress',
        'processingReverse',
      ],
    },
    cancelledIf: { pointer: '/order_status/code', values: ['canceled', 'cancelled', 'expired', 'voided', 'denied'] },
    // Without a zone, and UTC: `issue_date` of the same order is three hours later.
    modifiedAt: { pointer: '/updated_at' },
  },
  mapping: {
    source_order_id: '/id',
    order_number: ['/invoice_number', '/id'],
    customer: {
      name: ['/consignee/name', '/customer/name'],
      phone: ['/consignee/mobile', '/customer/mobile'],
      email: ['/customer/email', '/consignee/email'],
      id: '/customer/id',
    },
    // With the city, which the emirate and the area need not name: Al Ain.
    address: [
      {
        join: ['street', 'meta/building_number', 'short_address', 'city/name'].map(
          (part) => `/shipping/address/${part}`,
        ),
        separator: ', ',
      },
      '/shipping/address/formatted_address',
    ],
    emirate: {
      join: ['/shipping/address/city/name', ['/shipping/address/country/code', '/shipping/address/country/name']],
      separator: ', ',
    },
    area: ['/shipping/address/district', '/shipping/address/city/name'],
    items: {
      list: '/products',
      name: {
        join: [
          '/name',
          { each: '/options', label: '/name', value: '/value' },
          { each: '/custom_fields', label: ['/label', '/name'], value: '/value' },
        ],
        separator: ', ',
      },
      quantity: '/quantity',
      sku: '/sku',
    },
    total: '/order_total',
    currency: '/currency_code',
    payment_state: [
      { constant: 'refunded', if: { '/order_status/code': ['refunded', 'reversed', 'chargeback'] } },
      {
        constant: 'cash_on_delivery',
        if: { '/payment/method/code': ['zid_cod', 'cod'], '/payment_status': ['pending', 'unpaid', null] },
      },
      '/payment_status',
    ],
    delivery_instructions: ['/customer_note', '/customer/note'],
    details: [
      { label: 'Shipping', value: '/shipping/method/name' },
      { label: 'Payment', value: '/payment/method/name' },
      { label: 'Coupon', value: '/coupon/code' },
      { label: 'Gift message', value: '/gift_message' },
    ],
  },
};
