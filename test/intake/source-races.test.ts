import { expect, test } from '@jest/globals';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { findDeliveries } from '@orders/database/sources/activity.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { CUSTOMER, erase, markersFor } from '../harness/erasure.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, account } = useStack({ intake: true, account: 'each test' });

/** Sends a delivery whose id the mapping does not find, and corrects the mapping. */
async function sendUnmapped(
  topic?: string,
  more: object = {},
): Promise<{ source: Source; receiptId: string; body: string }> {
  const source = await createTestSource(stack, account, 'shopify');
  const body = JSON.stringify({
    key: `K-${source.source_number}`,
    cancelled_at: topic === 'orders/cancelled' ? '2026-11-28T10:00:00Z' : null,
    shipping_address: { name: CUSTOMER.name, phone: CUSTOMER.phone[0] },
    ...more,
  });
  const reply = await deliver(api, source, body, shopifyHeaders(body, topic));
  expect(reply.status).toBe(202);
  const { source_number: sourceNumber } = source;
  const mapping = { ...PRESETS.shopify.mapping, source_order_id: '/key' };
  await setMapping(db, { accountId: account.id, sourceNumber, mapping, by: 'tester' });
  return { source, receiptId: reply.body.receipt_id, body };
}

function lockReceipt(receiptId: string) {
  return hold(knex, `select from receipts where receipt_id = '${receiptId}' for update`);
}

async function rawBodies({ source_number }: Source): Promise<string[]> {
  const found = await until('a delivery is listed', async () => {
    const deliveries = await findDeliveries(db, account.id, source_number, 10);
    return deliveries.length > 0 && deliveries;
  });
  return found.map(({ raw }) => raw.toString());
}

test('two redrives of one unmapped delivery at once map it once, and its raw body stays', async () => {
  const { source, receiptId, body } = await sendUnmapped();
  const held = await lockReceipt(receiptId);
  const redrives = [redriveReceipts(db, [receiptId]), redriveReceipts(db, [receiptId])];
  await Promise.all([whoWait(knex, 1, 'transactionid'), whoWait(knex, 1, 'tuple')]);
  await held.release();
  expect((await Promise.all(redrives)).flat()).toEqual([receiptId]);
  expect(await rawBodies(source)).toEqual([body]);
});

test('an unmapped test of a platform is to become an order by its redrive', async () => {
  const { receiptId } = await sendUnmapped(undefined, { test: true });
  expect(await redriveReceipts(db, [receiptId])).toEqual([receiptId]);
  expect(await knex('receipts').where({ receipt_id: receiptId }).first()).toMatchObject({
    state: 'received',
    delivery_kind: 'test',
  });
});

test('an erasure after the redrive of a delivery leaves nothing of its customer', async () => {
  const { source, receiptId } = await sendUnmapped();
  await redriveReceipts(db, [receiptId]);
  await erase(stack, account, '--phone', CUSTOMER.phone[0] as string);
  expect(await markersFor(stack, account)).toEqual([]);
  expect(await findDeliveries(db, account.id, source.source_number, 10)).toEqual([]);
});

test.each(['orders/create', 'orders/cancelled'])(
  'a redrive of %s waits for an erasure, and then maps nothing',
  async (topic) => {
    const { receiptId } = await sendUnmapped(topic);
    const held = await lockReceipt(receiptId);
    const erased = erase(stack, account, '--phone', CUSTOMER.phone[0] as string);
    await whoWait(knex, 1, 'transactionid');
    const redriven = redriveReceipts(db, [receiptId]);
    await whoWait(knex, 1, 'tuple');
    await held.release();
    expect(await erased).toMatchObject({ receipts: 1 });
    expect(await redriven).toEqual([]);
    expect(await markersFor(stack, account)).toEqual([]);
  },
);

test('an erasure that waits for the redrive of a delivery erases both of its bodies', async () => {
  const { receiptId } = await sendUnmapped();
  const held = await lockReceipt(receiptId);
  const redriven = redriveReceipts(db, [receiptId]);
  await whoWait(knex, 1, 'transactionid');
  const erased = erase(stack, account, '--phone', CUSTOMER.phone[0] as string);
  await whoWait(knex, 1, 'tuple');
  await held.release();
  await Promise.all([redriven, erased]);
  expect(await markersFor(stack, account)).toEqual([]);
});
