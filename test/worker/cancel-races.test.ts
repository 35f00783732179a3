import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { undoReview } from '@orders/portal/review/undo-review.ts';
import { dispatchOrders } from '@orders/worker/dispatch-orders.ts';
import type { Reply } from '../harness/api.ts';
import {
  closeBarrier,
  hold,
  installBarriers,
  untilPostponed,
  waitForLocksWithoutLimit,
  whoWait,
} from '../harness/barriers.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { CUSTOMER_MEMBERS, erase, markersFor } from '../harness/erasure.ts';
import { dispatch, extendUndo, makeReviewOlder } from '../harness/review-list.ts';
import { expectSettled } from '../harness/settled.ts';
import type { RunningIntake, RunningWorker } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const BY = 'reviewer@shop.example';
/** Without a sweep that could write an order before the test lets it. */
const ONE_BY_ONE = { WORKER_CONCURRENCY: '1', SWEEP_INTERVAL: '10m' };
/** One intake decides an account's cancellations one request at a time. */
let otherIntake: RunningIntake;
const workers: RunningWorker[] = [];

const { stack, knex, db, intake, api, account } = useStack({ intake: true, account: 'each test' });

beforeAll(async () => {
  otherIntake = await stack.intake();
  await installBarriers(knex);
  await waitForLocksWithoutLimit(knex);
});
afterEach(() => stopWorkers());

const startWorker = async (settings: Record<string, string> = {}) => {
  const worker = await stack.worker(settings);
  workers.push(worker);
  return worker;
};
const stopWorkers = async () => {
  for (const { close } of workers.splice(0)) await close();
};

let orders = 0;
const newId = (name: string) => `${name}-${++orders}`;
const post = async (order: object): Promise<string> => (await api.order(account, order)).body.receipt_id;
const cancel = (id: string, reason?: string, { api } = intake): Promise<Reply> =>
  api.cancel(account, { source_order_id: id, ...(reason && { reason }) });
const stateOf = async (id: string) =>
  knex('orders').where({ account_id: account.id, source_order_id: id }).pluck('review_state');
const isHeld = async (id: string) =>
  (await knex('order_keys').where({ account_id: account.id, source_order_id: id, order_id: null })).length === 1;
const actionsOn = async (orderId: number) =>
  knex('audit_events')
    .where({ subject: `order:${orderId}` })
    .orderBy('event_id')
    .pluck('action');

interface Written {
  id: string;
  orderId: number;
  receiptId: string;
}

async function write(order: object = {}): Promise<Written> {
  const id = newId('order');
  await startWorker();
  const { order_id, receipt_id } = await api.process(account, { source_order_id: id, ...order });
  await stopWorkers();
  return { id, orderId: order_id as number, receiptId: receipt_id as string };
}

const review = ({ orderId }: Written, to: 'confirmed' | 'rejected' | 'needs_review') =>
  reviewOrders(db, { accountId: account.id, orderIds: [orderId], to, by: BY });

/** Lets two changes of an order wait for its lock in this order, and releases it. */
async function race<First, Second>(
  prepare: () => Promise<Written>,
  first: (order: Written) => Promise<First>,
  second: (order: Written) => Promise<Second>,
): Promise<{ order: Written; first: First; second: Second }> {
  const order = await prepare();
  const lock = await hold(knex, `select from orders where order_id = ${order.orderId} for update`);
  const began = first(order);
  await whoWait(knex, 1, 'transactionid');
  const followed = second(order);
  await whoWait(knex, 1, 'tuple');
  await lock.release();
  return { order, first: await began, second: await followed };
}

const cancelOrder = ({ id }: Written) => cancel(id, 'Changed my mind');
const outcomeOf = ({ status, body }: Reply) => (status === 200 ? body.outcome : body.code);

describe('against the write of its order', () => {
  test('the write first: the cancellation waits for it, and the order is cancelled', async () => {
    const id = newId('written-first');
    await startWorker(ONE_BY_ONE);
    const barrier = await closeBarrier(knex, 'orders written');
    const receiptId = await post({ source_order_id: id });
    await whoWait(knex, 1, 'advisory');
    const cancelled = cancel(id);
    await whoWait(knex, 1, 'transactionid');
    await barrier.release();
    const { body } = await cancelled;
    expect(body).toEqual({ outcome: 'cancelled', source_order_id: id, order_id: expect.any(Number) });
    expect((await api.final(account, receiptId)).body).toMatchObject({
      status: 'written',
      order_id: body.order_id,
      order_state: 'cancelled',
    });
  });

  test('the cancellation first: the worker puts the order off, and then writes it as cancelled', async () => {
    const id = newId('cancelled-first');
    const barrier = await closeBarrier(knex, 'orders written');
    const held = cancel(id, 'too late');
    await whoWait(knex, 1, 'advisory');
    const receiptId = await post({ source_order_id: id });
    await untilPostponed(await startWorker(ONE_BY_ONE));
    await barrier.release();
    expect(outcomeOf(await held)).toBe('held');
    const { body } = await api.final(account, receiptId);
    expect(body).toMatchObject({ status: 'written', attempts: 1, order_state: 'cancelled' });
    expect(await knex('orders').where({ order_id: body.order_id }).first()).toMatchObject({
      review_reason: 'too late',
      receipt_id: receiptId,
    });
  });

  test('two workers with two receipts of a held order: one writes it as cancelled, the other receipt is its duplicate', async () => {
    const id = newId('two-receipts');
    expect(outcomeOf(await cancel(id))).toBe('held');
    const barrier = await closeBarrier(knex, 'orders written');
    await startWorker({ ...ONE_BY_ONE, SWEEP_INTERVAL: '200ms' });
    await startWorker({ ...ONE_BY_ONE, SWEEP_INTERVAL: '200ms' });
    const first = await post({ source_order_id: id });
    await whoWait(knex, 1, 'advisory');
    const second = await post({ source_order_id: id });
    await untilPostponed(workers);
    await barrier.release();
    await expectSettled(stack, account, { [first]: 'written', [second]: 'duplicate' });
    expect(await stateOf(id)).toEqual(['cancelled']);
  });

  test('a redrive: a dead receipt is written as cancelled', async () => {
    const id = newId('redriven');
    await poisonOrders(knex);
    await startWorker({ RETRY_ATTEMPTS: '1' });
    const receiptId = await post({ source_order_id: id, order_number: 'poison' });
    expect((await api.final(account, receiptId)).body.status).toBe('dead');
    expect(outcomeOf(await cancel(id))).toBe('held');
    await stopPoisoning(knex);
    await redriveReceipts(db, [receiptId]);
    const { body } = await api.final(account, receiptId);
    expect(body).toMatchObject({ status: 'written', order_state: 'cancelled' });
  });

  test('in one batch with an order that cannot be written: only that one is dead', async () => {
    const [poisoned, held, other] = [newId('poisoned'), newId('held'), newId('other')];
    const ids = [poisoned, held].map((source_order_id) => ({ source_order_id }));
    expect((await api.cancel(account, { cancellations: ids })).status).toBe(200);
    await poisonOrders(knex);
    const { body } = await api.batch(account, [
      { source_order_id: poisoned, order_number: 'poison' },
      { source_order_id: held },
      { source_order_id: other },
    ]);
    await startWorker({ RETRY_ATTEMPTS: '1' });
    const states = [];
    for (const { receipt_id } of body.results) {
      const { status, order_state } = (await api.final(account, receipt_id)).body;
      states.push([status, order_state]);
    }
    await stopPoisoning(knex);
    expect(states).toEqual([
      ['dead', null],
      ['written', 'cancelled'],
      ['written', 'needs_review'],
    ]);
  });

  test('an order that fails for good is dead although its cancellation is held', async () => {
    const id = newId('dead');
    expect(outcomeOf(await cancel(id))).toBe('held');
    await poisonOrders(knex);
    await startWorker({ RETRY_ATTEMPTS: '2' });
    const receiptId = await post({ source_order_id: id, order_number: 'poison' });
    const { body } = await api.final(account, receiptId);
    await stopPoisoning(knex);
    expect(body).toMatchObject({ status: 'dead', order_id: null, order_state: null });
    expect([await stateOf(id), await isHeld(id)]).toEqual([[], true]);
  });
});

describe('against a decision', () => {
  test('confirmed first: the order is cancelled and never dispatched', async () => {
    const { order, second } = await race(write, (order) => review(order, 'confirmed'), cancelOrder);
    expect(outcomeOf(second)).toBe('cancelled');
    expect(await stateOf(order.id)).toEqual(['cancelled']);
    expect(await actionsOn(order.orderId)).toEqual(['order_confirmed', 'order_cancelled']);
    expect(await knex('undispatched_orders').where({ order_id: order.orderId })).toEqual([]);
    expect(await knex('dispatchable_orders').where({ order_id: order.orderId })).toEqual([]);
  });

  test('cancelled first: the order cannot be confirmed', async () => {
    const { order, first, second } = await race(write, cancelOrder, (order) => review(order, 'confirmed'));
    expect(outcomeOf(first)).toBe('cancelled');
    expect(second).toMatchObject({ changed: [], unchanged: [{ order_id: order.orderId, review_state: 'cancelled' }] });
    expect(await stateOf(order.id)).toEqual(['cancelled']);
  });

  const confirmUndoable = async () => {
    const order = await write();
    await review(order, 'confirmed');
    await extendUndo(knex, [order.orderId]);
    return order;
  };
  const undo = ({ orderId }: Written) => undoReview(db, { accountId: account.id, orderIds: [orderId], by: BY });

  test('undone first: the order is cancelled', async () => {
    const { order, first, second } = await race(confirmUndoable, undo, cancelOrder);
    expect(first).toMatchObject({ changed: [order.orderId] });
    expect(outcomeOf(second)).toBe('cancelled');
    expect(await stateOf(order.id)).toEqual(['cancelled']);
  });

  test('cancelled before the undo: the undo changes nothing', async () => {
    const { order, first, second } = await race(confirmUndoable, cancelOrder, undo);
    expect(outcomeOf(first)).toBe('cancelled');
    expect(second).toMatchObject({ changed: [], unchanged: [{ order_id: order.orderId, review_state: 'cancelled' }] });
    expect(await stateOf(order.id)).toEqual(['cancelled']);
  });

  test('reopened while it is cancelled again: the order is cancelled', async () => {
    const cancelled = async () => {
      const order = await write();
      await cancelOrder(order);
      return order;
    };
    const { order, second } = await race(cancelled, (order) => review(order, 'needs_review'), cancelOrder);
    expect(outcomeOf(second)).toBe('cancelled');
    expect(await stateOf(order.id)).toEqual(['cancelled']);
    expect(await actionsOn(order.orderId)).toEqual(['order_cancelled', 'order_reopened', 'order_cancelled']);
  });

  test('dispatched while it is cancelled: it becomes a request', async () => {
    const order = await confirmUndoable();
    const publisher = await hold(knex, `delete from undispatched_orders where order_id = ${order.orderId}`);
    const cancelled = cancelOrder(order);
    await whoWait(knex, 1, 'transactionid');
    await publisher.release();
    expect(outcomeOf(await cancelled)).toBe('requested');
    expect(await stateOf(order.id)).toEqual(['confirmed']);
    expect(await actionsOn(order.orderId)).toEqual(['order_confirmed', 'order_cancel_requested']);
  });

  test('the commit of the cancellation stalls past the undo time: the order is cancelled, and dispatching never sees it', async () => {
    const order = await write();
    await review(order, 'confirmed');
    await makeReviewOlder(knex, [order.orderId], 60);
    const commit = await hold(knex, 'select pg_advisory_xact_lock(79)');
    await knex.raw(`
      create function stall_commit() returns trigger language plpgsql set lock_timeout = 0 as
      $$ begin perform pg_advisory_xact_lock_shared(79); return null; end $$;
      create constraint trigger stall_commit after update on orders deferrable initially deferred for each row
      when (new.review_state = 'cancelled') execute function stall_commit()`);
    const cancelled = cancelOrder(order);
    await whoWait(knex, 1, 'advisory');
    expect(await dispatchOrders(db)).toEqual({ count: 0, hasMore: false });
    await commit.release();
    expect(outcomeOf(await cancelled)).toBe('cancelled');
    await knex.raw('drop trigger stall_commit on orders');
    await dispatchOrders(db);
    expect(await knex('dispatch_log').where({ order_id: order.orderId })).toEqual([]);
    expect(await actionsOn(order.orderId)).toEqual(['order_confirmed', 'order_cancelled']);
  });
});

describe('against another change', () => {
  const edit = ({ orderId }: Written) =>
    editStoredOrder(db, { accountId: account.id, orderId, edits: { '/total': '7' }, by: BY });

  test('edited first: the order is cancelled with its edit', async () => {
    const { order, first, second } = await race(write, edit, cancelOrder);
    expect([first, outcomeOf(second)]).toEqual([{ undo: { '/total': null } }, 'cancelled']);
    expect(await knex('orders').where({ order_id: order.orderId }).first()).toMatchObject({
      review_state: 'cancelled',
      total: '7',
    });
    expect(await knex('order_words').where({ order_id: order.orderId })).toEqual([]);
  });

  test('cancelled first: the edit is refused', async () => {
    const { first, second } = await race(write, cancelOrder, edit);
    expect([outcomeOf(first), second]).toEqual(['cancelled', 'conflict']);
  });

  test('a changed delivery while it is cancelled: the order stays cancelled and shows the changes', async () => {
    const order = await write();
    const lock = await hold(knex, `select from orders where order_id = ${order.orderId} for update`);
    const worker = await startWorker({ SWEEP_INTERVAL: '200ms' });
    const receiptId = await post({ source_order_id: order.id, total: 8 });
    await untilPostponed(worker);
    const cancelled = cancelOrder(order);
    await lock.release();
    expect(outcomeOf(await cancelled)).toBe('cancelled');
    expect((await api.final(account, receiptId)).body).toMatchObject({
      status: 'duplicate',
      order_state: 'cancelled',
      changes: [{ pointer: '/total', from: null, to: '8' }],
    });
  });

  test('by two keys at once: one of them is recorded', async () => {
    const { key } = await createKey(db, account.id, 'second');
    const other = { ...account, key };
    const { order, first, second } = await race(write, cancelOrder, ({ id }) =>
      otherIntake.api.cancel(other, { source_order_id: id }),
    );
    expect([outcomeOf(first), outcomeOf(second)]).toEqual(['cancelled', 'cancelled']);
    expect(await actionsOn(order.orderId)).toEqual(['order_cancelled']);
    const { reviewed_by } = await knex('orders').where({ order_id: order.orderId }).first();
    expect(reviewed_by).toBe('key:test');
  });

  test('two cancellations of an unknown order at once hold one', async () => {
    const id = newId('unknown');
    const barrier = await closeBarrier(knex, 'orders written');
    const first = cancel(id);
    await whoWait(knex, 1, 'advisory');
    const second = cancel(id, undefined, otherIntake);
    await whoWait(knex, 1, 'transactionid');
    await barrier.release();
    expect([outcomeOf(await first), outcomeOf(await second)]).toEqual(['held', 'held']);
    expect([await stateOf(id), await isHeld(id)]).toEqual([[], true]);
  });

  test('lists in opposite orders do not deadlock', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => newId(`cross-${index}`));
    const list = (ids: string[], { api } = intake) =>
      api.cancel(account, { cancellations: ids.map((source_order_id) => ({ source_order_id })) });
    const replies = await Promise.all([list(ids), list(ids.toReversed(), otherIntake)]);
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(new Set(body.results.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(['held']));
    }
  });
});

describe('against an erasure', () => {
  const PHONE = '0508277163';
  const WITH_PHONE = `Call ${PHONE} first`;

  test.each(['erased first', 'cancelled first'])('%s: no reason is left', async (sequence) => {
    const isErasedFirst = sequence === 'erased first';
    const eraseCustomer = () => erase(stack, account, '--phone', PHONE);
    const cancelWithPhone = ({ id }: Written) => cancel(id, WITH_PHONE);
    const { order, first, second } = isErasedFirst
      ? await race(() => write(CUSTOMER_MEMBERS), eraseCustomer, cancelWithPhone)
      : await race(() => write(CUSTOMER_MEMBERS), cancelWithPhone, eraseCustomer);
    expect(outcomeOf((isErasedFirst ? second : first) as Reply)).toBe('cancelled');
    expect(await markersFor(stack, account)).toEqual([]);
    expect(await knex('orders').where({ order_id: order.orderId }).first()).toMatchObject({
      review_state: 'cancelled',
      review_reason: null,
    });
  });

  test('of a held cancellation: its reason is removed, and the order is still cancelled', async () => {
    const id = newId('held-erased');
    expect(outcomeOf(await cancel(id, WITH_PHONE))).toBe('held');
    expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ orders: 0, receipts: 0 });
    expect(await markersFor(stack, account)).toEqual([]);
    await startWorker();
    const receiptId = await post({ source_order_id: id });
    expect((await api.final(account, receiptId)).body).toMatchObject({ order_state: 'cancelled' });
  });

  test('of a held cancellation that an order replaces meanwhile: no reason is left', async () => {
    const first = await write(CUSTOMER_MEMBERS);
    const id = newId('held-replaced');
    expect(outcomeOf(await cancel(id, WITH_PHONE))).toBe('held');
    const lock = await hold(knex, `select from orders where order_id = ${first.orderId} for update`);
    const erased = erase(stack, account, '--phone', PHONE);
    await whoWait(knex, 1, 'transactionid');
    const barrier = await closeBarrier(knex, 'orders written');
    await startWorker(ONE_BY_ONE);
    const receiptId = await post({ source_order_id: id });
    await whoWait(knex, 1, 'advisory');
    await lock.release();
    await whoWait(knex, 1, 'transactionid');
    await barrier.release();
    await erased;
    expect(await markersFor(stack, account)).toEqual([]);
    expect((await api.final(account, receiptId)).body).toMatchObject({ order_state: 'cancelled' });
  });

  test('of a requested cancellation: its reason is removed, in the record too', async () => {
    const order = await write();
    await review(order, 'confirmed');
    await dispatch(knex, order.orderId);
    expect(outcomeOf(await cancel(order.id, WITH_PHONE))).toBe('requested');
    expect(await erase(stack, account, '--phone', PHONE)).toMatchObject({ orders: 1 });
    expect(await markersFor(stack, account)).toEqual([]);
    expect(await knex('cancellation_requests').where({ order_id: order.orderId }).first()).toMatchObject({
      reason: null,
    });
    await dispatchOrders(db);
    expect(await knex('dispatch_cancellations').where({ order_id: order.orderId }).first()).toMatchObject({
      reason: null,
    });
  });
});
