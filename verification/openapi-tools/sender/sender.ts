import createClient from 'openapi-fetch';
import type { components, paths } from './openapi.ts';

declare const process: { argv: string[] };
type Order = components['schemas']['Order'];

const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

const order: Order = {
  source_order_id: 'typed-1',
  customer: { name: 'Aisha Khan', phone: '050 123 4567' },
  items: [{ name: 'Soup', quantity: 2 }],
  total: '149.50',
};

// @ts-expect-error: the type says how an order should be.
const untidy: Order = { source_order_id: 'typed-2', items: '2 soups' };

const accepted = await client.POST('/ingest/orders', { body: order, headers: { 'Idempotency-Key': 'typed-1' } });
if (accepted.error) throw new Error(accepted.error.code);

// The document accepts what the service accepts.
const corrected = await client.POST('/ingest/orders', { body: { source_order_id: 'typed-3', items: '2 soups' } });
if (corrected.error) throw new Error(corrected.error.code);

const batch = await client.POST('/ingest/orders/batch', {
  body: [{ ...order, source_order_id: 'typed-4' }, untidy, { customer: 7 }],
});
const outcomes = batch.data?.results.map((result) => ('error' in result ? result.error.code : 'stored'));

const status = await client.GET('/ingest/status/{receipt_id}', {
  params: { path: { receipt_id: accepted.data.receipt_id }, header: { Prefer: 'wait=30' } },
});
console.log(status.data?.status, status.data?.warnings.length, outcomes?.join(' '));
