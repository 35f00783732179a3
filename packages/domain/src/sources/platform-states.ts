import { normalizeOrder } from '../normalize-order.ts';
import type { DeliveryKind } from './delivery-kind.ts';
import { readDelivery } from './read-delivery.ts';
import type { PresetDefinition, SourcePreset } from './settings.ts';

/** What a platform can say of an order, and a document that says it. */
interface PlatformState {
  /** In the platform's own words; `*` for any that no other state names. */
  says: string;
  document: object;
  /** Default: that of all states of the platform. */
  topic?: string;
}

/** The states of a platform's orders, for the tables in its guide and in the portal. */
interface PlatformStates {
  /** The topic of a changed order, if it is in a header. */
  topic?: string;
  states: readonly PlatformState[];
}

const both = (status: string, method?: string) => (method === undefined ? status : `${status} + ${method}`);

// https://shopify.dev/docs/api/admin-rest/latest/resources/order
const shopify = (financial_status: string, gateway?: string): PlatformState => ({
  says: both(financial_status, gateway),
  document: { id: 1, financial_status, payment_gateway_names: [gateway ?? 'shopify_payments'] },
});

// https://woocommerce.com/document/managing-orders/order-statuses
const woocommerce = (status: string, payment_method?: string): PlatformState => ({
  says: both(status, payment_method),
  document: { id: 1, status, payment_method: payment_method ?? 'stripe' },
});

// https://docs.salla.dev/api-5394150
const salla = (slug: string, payment_method?: string): PlatformState => ({
  says: both(slug, payment_method),
  document: { event: 'order.updated', data: { id: 1, status: { slug }, payment_method: payment_method ?? 'mada' } },
});
const sallaEvent = (event: string): PlatformState => ({ says: event, document: { event, data: { id: 1 } } });

// https://docs.zid.sa/webhook-events-order
const zid = (code: string, payment_status?: string, method?: string): PlatformState => ({
  says: [code, payment_status, method].filter((word) => word !== undefined).join(' + '),
  document: { id: 1, order_status: { code }, payment_status, payment: { method: { code: method ?? 'zidpay' } } },
});

const PLATFORM_STATES: Readonly<Partial<Record<SourcePreset, PlatformStates>>> = {
  shopify: {
    topic: 'orders/updated',
    states: [
      ...['pending', 'partially_paid', 'voided', 'expired'].map((status) => shopify(status)),
      shopify('pending', 'Cash on Delivery (COD)'),
      ...['authorized', 'paid', 'partially_refunded', 'refunded'].map((status) => shopify(status)),
      { says: 'fulfilled', document: { id: 1, financial_status: 'paid', fulfillment_status: 'fulfilled' } },
      { says: 'test', document: { id: 1, financial_status: 'paid', test: true } },
      { says: 'cancelled_at', document: { id: 1, cancelled_at: '2026-11-01T09:15:00+04:00' } },
      ...['orders/paid', 'refunds/create'].map((topic) => ({ says: topic, topic, document: { id: 1 } })),
    ],
  },
  woocommerce: {
    topic: 'order.updated',
    states: [
      ...['pending', 'failed', 'on-hold'].map((status) => woocommerce(status)),
      ...['pending', 'on-hold', 'processing'].map((status) => woocommerce(status, 'cod')),
      ...[
        'processing',
        'completed',
        'shipped',
        'dispatched',
        'out-for-delivery',
        'delivered',
        'refunded',
        'cancelled',
      ].map((status) => woocommerce(status)),
      ...['checkout-draft', 'auto-draft', 'draft', 'new', 'trash'].map((status) => woocommerce(status)),
      ...['order.deleted', 'order.restored'].map((topic) => ({ says: topic, topic, document: { id: 1 } })),
      { ...woocommerce('wc-other'), says: '*' },
    ],
  },
  salla: {
    states: [
      salla('payment_pending'),
      salla('under_review', 'bank'),
      ...['under_review', 'in_progress'].map((slug) => salla(slug)),
      ...['under_review', 'in_progress'].map((slug) => salla(slug, 'cod')),
      ...['completed', 'delivering', 'shipped', 'delivered', 'restoring', 'restored'].map((slug) => salla(slug)),
      salla('canceled'),
      sallaEvent('order.cancelled'),
      sallaEvent('order.deleted'),
      { says: 'draft', document: { event: 'order.created', data: { id: 1, draft: true } } },
      salla('request_quote'),
      ...['shipment.created', 'abandoned.cart'].map((event) => sallaEvent(event)),
      { ...salla('other'), says: '*' },
    ],
  },
  zid: {
    states: [
      ...['new', 'failed'].map((code) => zid(code, 'pending')),
      zid('new', 'pending', 'zid_cod'),
      ...['new', 'preparing', 'ready', 'indelivery', 'delivered'].map((code) => zid(code, 'paid')),
      ...['refunded', 'reversed', 'chargeback'].map((code) => zid(code)),
      zid('reverse_in_progress'),
      ...['canceled', 'expired', 'voided', 'denied'].map((code) => zid(code)),
      { says: '*', document: { id: 1 } },
    ],
  },
};

/** What becomes of an order in some states of its platform. */
export interface LifeRow {
  /** In the platform's own words; `*` for any other. */
  says: string[];
  kind: DeliveryKind;
  /** Null if it is unknown, differs between the orders of the row, or nothing comes of it. */
  payment_state: string | null;
}

/** Kinds whose states say how the order is paid. A test has any payment. */
const PAYABLE: ReadonlySet<DeliveryKind> = new Set(['order', 'unpaid', 'finished']);

/**
 * What each topic and status of a platform becomes, as the settings and the mapping of a source read them: states with the same outcome are
 * one row. Empty for presets that belong to no platform.
 */
export function readLife(preset: SourcePreset, { settings, mapping }: PresetDefinition): LifeRow[] {
  const { topic: usual, states } = PLATFORM_STATES[preset] ?? { states: [] };
  const topicHeader = settings.topic && 'header' in settings.topic ? settings.topic.header : undefined;
  const rows = new Map<string, LifeRow>();
  for (const { says, document, topic = usual } of states) {
    const headers = topicHeader === undefined ? {} : { [topicHeader]: topic };
    const body = Buffer.from(JSON.stringify(document));
    const { kind, payload } = readDelivery(body, headers, { settings, mapping, idPrefix: '' });
    const payment_state = PAYABLE.has(kind) ? normalizeOrder({ ...payload }).order.payment_state : null;
    const outcome = `${kind} ${payment_state}`;
    const row = rows.get(outcome) ?? { says: [], kind, payment_state };
    row.says.push(says);
    rows.set(outcome, row);
  }
  return [...rows.values()];
}
