import { describe, expect, test } from '@jest/globals';
import { listOrders } from '@orders/cli/list-orders.ts';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: true });

const MESSY = {
  source_order_id: 'preview-1',
  customer: 'Aisha, 050 123 4567',
  address: 'Villa 7, Al Nahda, Sharjah',
  items: [{ name: 'Soup', quantity: '2' }],
  total: 'Dhs. 1,250/-',
  gift: true,
};

describe('a preview', () => {
  test('shows the normalized order and its warnings, and stores nothing', async () => {
    const before = await countStored(knex);
    const { status, body } = await api.preview(account, MESSY, { 'Idempotency-Key': 'preview' });
    expect(status).toBe(200);
    expect(body.normalized).toEqual({
      source_order_id: 'preview-1',
      order_number: 'preview-1',
      customer: { name: 'Aisha, 050 123 4567', phone: '+971501234567', email: null, id: null },
      address: 'Villa 7, Al Nahda, Sharjah',
      emirate: 'Sharjah',
      emirate_code: 'AE-SH',
      area: null,
      items: [{ name: 'Soup', quantity: 2, sku: null }],
      total: '1250',
      currency: 'AED',
      ...ofTextFields(() => null),
    });
    expect(body.warnings.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)).toEqual([
      '/customer customer_as_text',
      '/address inferred',
      '/items/0/quantity quantity_from_text',
      '/gift unknown_field',
    ]);
    expect(body.duplicate_of).toBeNull();
    expect(await countStored(knex)).toBe(before);
  });

  test('equals the order that is written later, and then names that order', async () => {
    const order = { ...MESSY, source_order_id: 'preview-2' };
    const { body: preview } = await api.preview(account, order);
    const { body: sent } = await api.order(account, order, { Prefer: 'wait=30' });
    const [stored] = await listOrders(db, { accountId: account.id });
    expect(stored).toMatchObject({ ...preview.normalized, warnings: preview.warnings, order_id: sent.order_id });
    const { body: again } = await api.preview(account, order);
    expect(again).toEqual({ ...preview, duplicate_of: { receipt_id: sent.receipt_id, order_id: sent.order_id } });
  });

  test('does not reveal an order of another account', async () => {
    const other = await stack.account();
    await api.order(account, { source_order_id: 'preview-3' }, { Prefer: 'wait=30' });
    expect((await api.preview(account, { source_order_id: 'preview-3' })).body.duplicate_of).not.toBeNull();
    expect((await api.preview(other, { source_order_id: 'preview-3' })).body.duplicate_of).toBeNull();
  });

  test.each([
    ['no key', {}, '{}', 401, 'missing_api_key'],
    ['another media type', { 'Content-Type': 'text/plain' }, '{}', 415, 'unsupported_media_type'],
    ['no JSON', {}, '{', 400, 'malformed_body'],
    ['no id', {}, '{"emirate":"Dubai"}', 422, 'validation_failed'],
    ['too large', {}, `{"source_order_id":"${'x'.repeat(300_000)}"}`, 413, 'payload_too_large'],
  ])('is rejected like an order: %s', async (what, headers, body, status, code) => {
    const authorization = what === 'no key' ? {} : { Authorization: `Bearer ${account.key}` };
    const sent = { 'Content-Type': 'application/json', ...authorization, ...headers } as Record<string, string>;
    const reply = await api.send('POST', '/ingest/preview', sent, body);
    expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });
  });
});
