import { ofTextFields } from '../text-fields.ts';
import type { OrderMapping } from './mapping.ts';
import { SALLA } from './presets/salla.ts';
import { SHOPIFY } from './presets/shopify.ts';
import { WOOCOMMERCE } from './presets/woocommerce.ts';
import { ZID } from './presets/zid.ts';
import type { PresetDefinition, SourcePreset } from './settings.ts';

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
  shopify: SHOPIFY,
  woocommerce: WOOCOMMERCE,
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
