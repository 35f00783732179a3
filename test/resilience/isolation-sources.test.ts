import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { createSourceId } from '@orders/domain/api-key.ts';
import { readMapping } from '@orders/domain/sources/read-mapping.ts';
import { attack, LARGEST, largestOrder } from '../../verification/bench/src/isolation/attack.ts';
import { HOSTILE_MAPPINGS, TOKEN } from '../../verification/bench/src/isolation/hostile-mappings.ts';
import { useIsolation } from '../harness/isolation.ts';
import { createTestSource, SOURCE_SECRET, shopifyHeaders } from '../harness/sources.ts';

const isolation = useIsolation();
let url: string;

beforeAll(async () => {
  const { stack, hostile, intakeUrl } = isolation;
  const source = await createTestSource(stack, hostile, 'shopify');
  url = `${intakeUrl}/ingest/sources/${source.source_id}`;
});

/** A delivery of about the max length with items of two bytes each. */
const largest = (members: Record<string, unknown>): Buffer =>
  Buffer.from(
    largestOrder('x', undefined, members)
      .toString()
      .replace('"source_order_id":"x",', '')
      .replace('"items"', '"line_items"'),
  );

const send = (connections: number, body: Buffer, headersOf: () => Record<string, string>, target = () => url) =>
  isolation.expectUnharmed((signal) =>
    attack(() => ({ url: target(), headers: headersOf(), body }), { connections, signal }),
  );

test('120 of the largest deliveries at once', async () => {
  const body = Buffer.from(`${largest({ id: 1 }).toString().trimEnd()}`);
  await send(120, body, () => shopifyHeaders(body));
});
test('120 of the largest deliveries without an order id at once', async () => {
  const body = largest({ n: 1 });
  await send(120, body, () => shopifyHeaders(body));
});
test('120 of the largest bodies that are not JSON at once', async () => {
  const body = Buffer.alloc(LARGEST, '[');
  await send(120, body, () => shopifyHeaders(body));
});
test('120 cancellations of the largest order at once', async () => {
  const body = largest({ id: 1, cancelled_at: '2026-11-28T10:00:00Z' });
  await send(120, body, () => shopifyHeaders(body, 'orders/cancelled'));
});
test('64 of the largest deliveries with a wrong signature at once', async () => {
  const body = largest({ id: 1 });
  const headers = { ...shopifyHeaders(body), 'X-Shopify-Hmac-Sha256': randomBytes(32).toString('base64') };
  await send(64, body, () => headers);
});
test('200 deliveries to sources that do not exist at once', async () => {
  const body = Buffer.from('{"id":1}');
  await send(
    200,
    body,
    () => shopifyHeaders(body),
    () => url.replace(/src_.*/, createSourceId()),
  );
});
test('120 deliveries at once whose mapping repeats a text in 100 items', async () => {
  const { stack, hostile, intakeUrl } = isolation;
  const items = Array.from({ length: 100 }, () => ({ name: '/a', quantity: '/a', sku: '/a' }));
  const source = await createTestSource(stack, hostile, 'shopify', { mapping: { source_order_id: '/id', items } });
  const body = Buffer.from(JSON.stringify({ id: 1, a: '\0'.repeat(1_100) }));
  await send(
    120,
    body,
    () => shopifyHeaders(body),
    () => `${intakeUrl}/ingest/sources/${source.source_id}`,
  );
});
test.each(HOSTILE_MAPPINGS)('120 deliveries at once with $name', async ({ mapping, body }) => {
  const { stack, hostile, intakeUrl } = isolation;
  expect(body.length).toBeLessThanOrEqual(LARGEST);
  const source = await createTestSource(stack, hostile, 'custom', { settings: TOKEN, mapping: readMapping(mapping) });
  await send(
    120,
    body,
    () => ({ 'Content-Type': 'application/json', 'X-Token': SOURCE_SECRET }),
    () => `${intakeUrl}/ingest/sources/${source.source_id}`,
  );
});
test('every accepted delivery is final', () => isolation.expectAllFinal());
