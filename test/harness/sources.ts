import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSource } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import type { Order } from '@orders/domain/order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import { Webhook } from 'standardwebhooks';
import { recordedDelivery } from '../../packages/domain/test/recorded-deliveries.ts';
import type { Api, Reply, TestAccount } from './api.ts';
import type { Stack } from './stack.ts';

/** The secret of each test source. */
export const SOURCE_SECRET = 'a secret of the platform';

/** Creates a source, by default with the settings and the mapping of its preset. Its prefix is made from its name: `my-shopify`. */
export async function createTestSource(
  { database, secretsKey }: Stack,
  account: TestAccount,
  preset: SourcePreset,
  own: { settings?: SourceSettings; mapping?: OrderMapping; secret?: string; idPrefix?: string } = {},
): Promise<Source> {
  const { settings, mapping } = PRESETS[preset];
  const source = {
    accountId: account.id,
    name: `my ${preset}`,
    preset,
    settings,
    mapping,
    secret: SOURCE_SECRET,
    ...own,
  };
  return createSource(database.db, secretsKey, source, 'tester');
}

/** The headers with which Shopify sends a body. */
export function shopifyHeaders(body: string | Buffer, topic = 'orders/create', secret = SOURCE_SECRET) {
  return {
    'Content-Type': 'application/json',
    'X-Shopify-Topic': topic,
    'X-Shopify-Hmac-Sha256': createHmac('sha256', secret).update(body).digest('base64'),
    'X-Shopify-Shop-Domain': 'lamps.myshopify.com',
    'X-Shopify-API-Version': '2026-10',
    'X-Shopify-Webhook-Id': randomUUID(),
  };
}

/** The headers with which WooCommerce sends a body. */
export function wooCommerceHeaders(body: string | Buffer, topic = 'order.created', secret = SOURCE_SECRET) {
  return {
    'Content-Type': 'application/json',
    'X-WC-Webhook-Source': 'https://lamps.example/',
    'X-WC-Webhook-Topic': topic,
    'X-WC-Webhook-Resource': 'order',
    'X-WC-Webhook-Event': topic.split('.')[1] as string,
    'X-WC-Webhook-Signature': createHmac('sha256', secret).update(body).digest('base64'),
    'X-WC-Webhook-ID': '7',
    'X-WC-Webhook-Delivery-ID': randomUUID(),
  };
}

/** The headers with which Salla sends a body. */
export function sallaHeaders(body: string | Buffer, secret = SOURCE_SECRET) {
  return {
    'Content-Type': 'application/json',
    'X-Salla-Security-Strategy': 'Signature',
    'X-Salla-Signature': createHmac('sha256', secret).update(body).digest('hex'),
  };
}

/** The headers with which Zid sends a body. */
export function zidHeaders(secret = SOURCE_SECRET) {
  return {
    'Content-Type': 'application/json',
    Authorization: `Basic ${Buffer.from(`orders:${secret}`).toString('base64')}`,
  };
}

/** The headers of Standard Webhooks, as the project's own library signs them. */
export function standardHeaders(body: string | Buffer, secret: string, id = `msg_${randomUUID()}`, at = new Date()) {
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body.toString()),
  };
}

/** Sends a body to a source. */
export function deliver(
  api: Api,
  source: Pick<Source, 'source_id'>,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<Reply> {
  return api.send('POST', `/ingest/sources/${source.source_id}`, headers, body);
}

const FIXTURES = resolve(import.meta.dirname, '../../packages/domain/test/fixtures/sources');

/** What a recorded delivery becomes. */
export interface RecordedOrder {
  /** The preset and the name of the delivery. */
  delivery: `${SourcePreset}/${string}`;
  topic: string;
  order: Order;
  /** The codes of all warnings. */
  warnings: string[];
}

/** The body of a recorded delivery. */
export function readDeliveryFixture(delivery: RecordedOrder['delivery']): Buffer {
  return Buffer.from(JSON.stringify(recordedDelivery(delivery), null, 2));
}

/** The file leaves out the texts that an order does not have. */
export const RECORDED_ORDERS: RecordedOrder[] = JSON.parse(readFileSync(resolve(FIXTURES, 'orders.json'), 'utf8')).map(
  (recorded: RecordedOrder) => ({ ...recorded, order: { ...ofTextFields(() => null), ...recorded.order } }),
);
