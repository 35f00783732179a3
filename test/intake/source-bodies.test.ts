import { beforeAll, describe, expect, test } from '@jest/globals';
import { findDeliveries } from '@orders/database/sources/activity.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { until } from '@orders/test-services/until.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

let source: Source;

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: true });

beforeAll(async () => {
  // Without a prefix, an id may have 255 characters.
  source = await createTestSource(stack, account, 'shopify', { idPrefix: '' });
});

async function send(body: string | Buffer, headers: Record<string, string> = shopifyHeaders(body)) {
  const reply = await deliver(api, source, body, headers);
  expect(reply.status).toBe(202);
  return (await api.final(account, reply.body.receipt_id)).body;
}
const nested = (levels: number) => `{"id": 64, "a": ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('a body becomes an order', () => {
  test.each<[string, string, string, string[]]>([
    ['with a member twice, by the last one', '{"id": 1, "id": 2}', '2', []],
    ['with members named __proto__', '{"__proto__": {"id": 5}, "id": 3, "customer": {"__proto__": 1}}', '3', []],
    ['with 64 levels', nested(64), '64', []],
    ['with a byte order mark', '\uFEFF{"id": 4}', '4', []],
    ['with U+0000', '{"id": 5, "name": "a\\u0000b"}', '5', ['characters_removed']],
    ['with half of a surrogate pair', '{"id": 6, "note": "a\\ud800"}', '6', ['characters_removed']],
    ['with an id of 255 digits', `{"id": ${'9'.repeat(255)}}`, '9'.repeat(255), []],
    ['with a text of 250,000 characters', `{"id": 7, "note": "${'y'.repeat(250_000)}"}`, '7', ['too_long']],
    ['with 80,000 items', `{"id": 8, "line_items": [${'{},'.repeat(80_000)}{}]}`, '8', ['too_many_items']],
    ['with items that are no objects', '{"id": 9, "line_items": [1, null, "a", []]}', '9', []],
  ])('%s', async (_name, body, id, codes) => {
    const { status, source_order_id, warnings } = await send(body);
    expect([status, source_order_id]).toEqual(['written', id]);
    expect(warnings.map(({ code }: { code: string }) => code)).toEqual(codes);
  });
});

describe('a body is stored as a dead receipt', () => {
  test.each<[string, string | Buffer]>([
    ['with an id only in __proto__', '{"__proto__": {"id": 1}}'],
    ['with 65 levels', nested(65)],
    ['that is 100,000 brackets', '['.repeat(100_000)],
    ['that is not UTF-8', bytes('{"id": 1, "name": "', [0xff], '"}')],
    ['with an id of 256 characters', `{"id": "${'x'.repeat(256)}"}`],
    ['with a line break in its id', '{"id": "a\\nb"}'],
    ['with U+0000 in its id', '{"id": "a\\u0000b"}'],
    ['with half of a surrogate pair in its id', '{"id": "a\\ud800"}'],
    ['with a list as its id', '{"id": [1]}'],
    ['that is a list', '[{"id": 1}]'],
  ])('%s', async (_name, body) => {
    const { status, error } = await send(body);
    expect([status, error.code]).toEqual(['dead', 'mapping_failed']);
  });
});

test('a delivery that is sent three times is one receipt and is listed once', async () => {
  source = await createTestSource(stack, account, 'shopify');
  const body = '{"id": "repeated"}';
  const headers = shopifyHeaders(body);
  const ids = [await send(body, headers), await send(body, headers), await send(body, headers)];
  expect(new Set(ids.map(({ receipt_id }) => receipt_id)).size).toBe(1);
  const deliveries = () => findDeliveries(db, account.id, source.source_number, 10);
  const counted = () => knex('source_activity').where({ source_number: source.source_number }).first();
  await until('three are counted', async () => Number((await counted())?.count) === 3);
  expect(await deliveries()).toMatchObject([{ receipt_id: ids[0].receipt_id }]);
});

test('no Idempotency-Key of an order is the key of a delivery', async () => {
  const key = `source-${source.source_number}:abc`;
  await api.order(account, { source_order_id: 'with a key' }, { 'Idempotency-Key': key });
  const body = '{"id": "not replaced"}';
  const delivered = await send(body, { ...shopifyHeaders(body), 'X-Shopify-Webhook-Id': 'abc' });
  expect(delivered).toMatchObject({ status: 'written', source_order_id: 'my-shopify:not replaced' });
});
