import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setHoldChangedDeliveries } from '@orders/database/accounts/accounts.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { decideChangedDelivery } from '@orders/portal/review/decide-changed-delivery.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { writeDuplicates } from '@orders/worker/changed-deliveries/write-duplicates.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import type { Knex } from 'knex';
import { hold, untilPostponed, whoWait } from '../harness/barriers.ts';
import { CUSTOMER, CUSTOMER_MEMBERS, erase, markersFor } from '../harness/erasure.ts';
import { startApp } from '../harness/processes.ts';
import { expectSettled, NO_FAILED_ATTEMPT } from '../harness/settled.ts';
import { useStack } from '../harness/use-stack.ts';

const FIRST = { source_order_id: 'first', customer: { phone: '0501234567' }, total: '10' };
const CHANGED = { ...FIRST, total: '12' };
const CHANGES = [{ pointer: '/total', from: '10', to: '12' }];

let trx: Knex.Transaction;

const { stack, knex, db, api, account } = useStack({ stack: 'each test', intake: true, account: true });

beforeEach(async () => {
  trx = await knex.transaction();
});
afterEach(async () => {
  if (!trx?.isCompleted()) await trx?.rollback();
});

const begin = async () => {
  const { order_id: orderId, receipt_id: receiptId } = await api.process(account, FIRST);
  return { orderId: orderId as number, receiptId: receiptId as string };
};
const post = async (order: object) => (await api.order(account, order)).body.receipt_id as string;
const changedDeliveries = () =>
  knex('changed_deliveries').where({ account_id: account.id }).orderBy('receipt_id').select('changes', 'decision');

test('duplicates of a batch whose worker is killed after its orders are written by another worker with their changes', async () => {
  const first = await stack.worker();
  const { receiptId } = await begin();
  await first.close();
  const ids: Record<string, string> = { [receiptId]: 'written' };
  // As one batch, which is one job: a worker does not begin another while this one waits.
  const orders = Array.from({ length: 10 }, (_, index) => [
    { ...FIRST, source_order_id: `new-${index}` },
    index % 2 ? CHANGED : FIRST,
  ]);
  const { body } = await api.batch(account, orders.flat());
  for (const [index, { receipt_id }] of body.results.entries()) ids[receipt_id] = index % 2 ? 'duplicate' : 'written';
  const held = await hold(knex, 'lock table changed_deliveries in share row exclusive mode');
  const killedWorker = await startApp('worker', { ...stack.env, LEASE: '1500ms', SWEEP_INTERVAL: '10m' });
  await whoWait(knex, 1, 'relation');
  await until('all new orders are written', async () => {
    const written = await knex('orders').where({ account_id: account.id });
    return written.length === 11;
  });
  await killedWorker.stop('SIGKILL');
  expect(await knex('outbox').where({})).not.toEqual([]);
  await held.release();
  await stack.worker();
  await until('all are settled', async () => {
    const states = await knex('receipts').where({ account_id: account.id }).pluck('state');
    return !states.includes('normalized') && !states.includes('received');
  });
  await expectSettled(stack, account, ids, { history: NO_FAILED_ATTEMPT });
  const changes = (await changedDeliveries()).map((delivery) => delivery.changes).filter((one) => one !== null);
  expect(changes).toEqual(Array(5).fill(CHANGES));
});

test('two changed deliveries of one order at two workers are both stored once with their changes', async () => {
  await Promise.all([stack.worker(), stack.worker()]);
  const { receiptId } = await begin();
  const receiptIds = await Promise.all(Array.from({ length: 40 }, (_, n) => post(n % 2 ? CHANGED : FIRST)));
  const duplicates = Object.fromEntries(receiptIds.map((id) => [id, 'duplicate']));
  await expectSettled(stack, account, { [receiptId]: 'written', ...duplicates });
  const changes = (await changedDeliveries()).map((delivery) => delivery.changes);
  expect(changes.filter((one) => one === null)).toHaveLength(20);
  expect(changes.filter((one) => one !== null)).toEqual(Array(20).fill(CHANGES));
});

test('a changed delivery that arrives while the same content is being refused is put off and refused too', async () => {
  const worker = await stack.worker();
  const { orderId } = await begin();
  const { receipt_id: receiptId } = await api.process(account, CHANGED);
  const refusal = { accountId: account.id, orderId, receiptId, decision: 'refused', by: 'somebody' } as const;
  expect(await decideChangedDelivery(connectionOf(trx), refusal)).toBe('done');
  const again = await post(CHANGED);
  await untilPostponed(worker);
  await trx.commit();
  await api.final(account, again);
  expect(await changedDeliveries()).toEqual(Array(2).fill({ changes: CHANGES, decision: 'refused' }));
});

test('a changed delivery that arrives while its order is being confirmed does not change it, and its receipt lists the changes', async () => {
  const worker = await stack.worker();
  await setHoldChangedDeliveries(db, account.id, true);
  const { orderId } = await begin();
  const confirmation = { accountId: account.id, orderIds: [orderId], to: 'confirmed', by: 'somebody' } as const;
  expect(await reviewOrders(connectionOf(trx), confirmation)).toMatchObject({ changed: [orderId] });
  const again = await post(CHANGED);
  await untilPostponed(worker);
  await trx.commit();
  expect((await api.final(account, again)).body).toMatchObject({ status: 'duplicate', changes: CHANGES });
  const [order] = await knex('orders').where({ order_id: orderId });
  expect(order).toMatchObject({ review_state: 'confirmed', total: '10' });
});

test('a changed delivery that was compared before another was accepted is compared again with the accepted values', async () => {
  const worker = await stack.worker();
  const { orderId } = await begin();
  const { receipt_id: receiptId } = await api.process(account, CHANGED);
  const acceptance = { accountId: account.id, orderId, receiptId, decision: 'accepted', by: 'somebody' } as const;
  expect(await decideChangedDelivery(connectionOf(trx), acceptance)).toBe('done');
  const again = await post({ ...FIRST, order_number: '7' });
  await untilPostponed(worker);
  await trx.commit();
  expect((await api.final(account, again)).body.changes).toEqual([
    { pointer: '/order_number', from: 'first', to: '7' },
    { pointer: '/total', from: '12', to: '10' },
  ]);
});

test('an order locked by another session delays only its own duplicates, and they use up no attempt', async () => {
  const first = await stack.worker();
  const { orderId, receiptId } = await begin();
  const others = Array.from({ length: 5 }, (_, index) => ({ ...FIRST, source_order_id: `other-${index}` }));
  const otherIds = await Promise.all(others.map((one) => api.process(account, one)));
  await first.close();
  await trx('orders').where({ order_id: orderId }).forUpdate();
  const many = Array.from({ length: 40 }, () => others.map((one) => ({ ...one, total: '12' }))).flat();
  const { body } = await api.batch(account, [CHANGED, FIRST, ...many]);
  const [changed, same, ...again]: [string, string, ...string[]] = body.results.map(
    (result: { receipt_id: string }) => result.receipt_id,
  );
  await stack.worker();
  const isEnded = async (ids: string[]) => {
    const states = await knex('receipts').whereIn('receipt_id', ids).pluck('state');
    return states.every((state) => state === 'duplicate');
  };
  await until('all other duplicates are final', () => isEnded([same, ...again]));
  expect(await isEnded([changed])).toBe(false);
  await trx.commit();
  const ids = [receiptId, ...otherIds.map((one) => one.receipt_id)].map((id) => [id, 'written']);
  const duplicates = [same, changed, ...again].map((id) => [id, 'duplicate']);
  await expectSettled(stack, account, Object.fromEntries([...ids, ...duplicates]));
  expect(await knex('receipts').where({ runs_alone: true })).toEqual([]);
  expect((await changedDeliveries()).filter(({ changes }) => changes !== null)).toEqual(
    Array(201).fill({ changes: CHANGES, decision: null }),
  );
});

test('a changed delivery that was compared before its customer was erased keeps nothing', async () => {
  const worker = await stack.worker();
  await api.process(account, { source_order_id: 'first', ...CUSTOMER_MEMBERS });
  // The worker compared the changed delivery before the order was erased.
  await trx('orders').where({ account_id: account.id }).forUpdate();
  const again = await post({ source_order_id: 'first', total: '12' });
  await untilPostponed(worker);
  await trx('orders').where({ account_id: account.id }).update({ erased_at: new Date() });
  await trx.commit();
  expect((await api.final(account, again)).body).toMatchObject({ status: 'duplicate', changes: [] });
  expect(await changedDeliveries()).toEqual([{ changes: null, decision: null }]);
  await erase(stack, account, '--phone', CUSTOMER.phone[0] as string);
  expect(await markersFor(stack, account)).toEqual([]);
});

test('a changed delivery whose lease is cleared while it is moved is processed again without a crash (Postgres 18 crashed)', async () => {
  const database = stack.openDatabase();
  const first = await stack.worker();
  const { receiptId, orderId } = await begin();
  await first.close();
  const again = await post(FIRST);
  const leaseId = randomUUID();
  await claimReceipts(database, [again], leaseId, 3_600_000);
  // An erasure does this too. The receipt can then be claimed again.
  await trx('receipts').where({ receipt_id: again }).update({ lease_id: null, lease_expires_at: null });
  const duplicate = { ...normalizeSent(FIRST), receiptId: again, accountId: account.id, orderId };
  const moving = writeDuplicates(database, leaseId, [], [], [duplicate], 3_600_000);
  await whoWait(knex, 1, 'transactionid');
  await trx.commit();
  expect(await moving).toEqual([]);
  await stack.worker();
  await expectSettled(stack, account, { [receiptId]: 'written', [again]: 'duplicate' });
  expect(await changedDeliveries()).toEqual([{ changes: null, decision: null }]);
});
