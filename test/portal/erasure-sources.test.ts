import { beforeEach, expect, test } from '@jest/globals';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { findDeliveries } from '@orders/database/sources/activity.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { until } from '@orders/test-services/until.ts';
import { accountWithEvents, CUSTOMER, erase, markersFor } from '../harness/erasure.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api } = useStack({ intake: true, worker: true });
let account: TestAccount;
let source: Source;

beforeEach(async () => {
  account = await accountWithEvents(stack);
  source = await createTestSource(stack, account, 'shopify');
});

const OTHER = { id: 2, name: '#2', shipping_address: { name: 'Omar Haddad', phone: '+971501112233' } };

async function send(order: object): Promise<string> {
  const body = JSON.stringify(order);
  const reply = await deliver(api, source, body, shopifyHeaders(body));
  expect(reply.status).toBe(202);
  return reply.body.receipt_id;
}

/** The raw bodies of the stored deliveries, newest first. */
async function rawBodies(count: number): Promise<string[]> {
  const deliveries = await until(`${count} deliveries are listed`, async () => {
    const found = await findDeliveries(db, account.id, source.source_number, 10);
    return found.length === count && found;
  });
  return deliveries.map(({ raw }) => raw.toString());
}

test('a customer who is only in a member that is not mapped is found, and the raw body is removed', async () => {
  const order = { id: 1, name: '#1', note_attributes: [{ name: 'gift for', value: CUSTOMER.email }] };
  // In one batch, so that both are in one payload row.
  const ids = await Promise.all([send(order), send(OTHER)]);
  for (const id of ids) await api.final(account, id);
  await rawBodies(2);
  expect(await erase(stack, account, '--email', CUSTOMER.email)).toMatchObject({ orders: 1, receipts: 1 });
  expect(await markersFor(stack, account)).toEqual([]);
  expect(await rawBodies(1)).toEqual([JSON.stringify(OTHER)]);
  expect(await knex('receipts').where({ account_id: account.id }).whereNotNull('raw_length')).toHaveLength(1);
  expect(await erase(stack, account, '--email', CUSTOMER.email)).toMatchObject({ orders: 0, receipts: 0 });
});

test('of the deliveries that could not be mapped, only those of the customer are erased; the others can be redriven', async () => {
  const unmapped = ({ id, ...order }: { id: unknown }) => ({ ...order, key: id });
  const ids = [
    await send(unmapped({ id: 1, ...{ shipping_address: { name: CUSTOMER.name, phone: CUSTOMER.phone[0] } } })),
    await send(unmapped(OTHER)),
  ];
  expect(await erase(stack, account, '--phone', CUSTOMER.phone[0] as string)).toMatchObject({ orders: 0, receipts: 1 });
  expect(await markersFor(stack, account)).toEqual([]);
  const { source_number: sourceNumber, mapping } = source;
  const corrected = { ...mapping, source_order_id: '/key' };
  await setMapping(db, { accountId: account.id, sourceNumber, mapping: corrected, by: 'tester' });
  expect(await redriveReceipts(db, ids)).toEqual(ids.slice(1));
  expect((await api.final(account, ids[1] as string)).body).toMatchObject({
    status: 'written',
    source_order_id: 'my-shopify:2',
  });
});
