import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { eraseOrder } from '@orders/cli/erasure/erase-order.ts';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { readEventLog, setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { PUBLISH_LOCK } from '@orders/database/run.ts';
import { searchCustomer } from '@orders/domain/customer-search.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { undoReview } from '@orders/portal/review/undo-review.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { publishEvents } from '@orders/worker/publish-events.ts';
import { hold } from '../harness/barriers.ts';
import { dispatch, makeReviewOlder } from '../harness/review-list.ts';
import { type TestAccount, withStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const BY = 'reviewer@shop.example';

const { stack, knex, db, api, worker, account } = useStack({
  intake: true,
  worker: true,
  account: 'each test',
  events: true,
});

let orders = 0;

/** Sends an order and waits until its receipt is final. */
async function send(account: TestAccount, fields: object = {}) {
  const id = `order-${++orders}`;
  const accepted = await api.order(account, { source_order_id: id, ...fields });
  expect(accepted.status).toBe(202);
  const { body } = await api.final(account, accepted.body.receipt_id);
  return { id: body.source_order_id as string, receiptId: body.receipt_id as string, orderId: body.order_id as number };
}

/** Reads the feed until it has `count` events. */
async function read(account: TestAccount, count: number, query = '') {
  return until(`${count} events`, async () => {
    const { status, body } = await api.events(account, query);
    expect(status).toBe(200);
    return body.events.length >= count && body.events;
  });
}

const review = (
  account: TestAccount,
  orderId: number,
  to: 'confirmed' | 'rejected' | 'needs_review',
  reason?: string,
) => reviewOrders(db, { accountId: account.id, orderIds: [orderId], to, by: BY, reason });

const endUndoTime = (orderId: number) => makeReviewOlder(knex, [orderId], 60);

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);

describe('an event is recorded', () => {
  test('for a written order, with its warnings and without what the sender sent', async () => {
    const { id, receiptId, orderId } = await send(account, {
      customer: { name: 'Aisha Khan', phone: '12', 'friend Zayed': 1 },
      Zayed: 'Aisha',
    });
    const [event] = await read(account, 1);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'receipt.written',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        sequence: 1,
        receipt_id: receiptId,
        source_order_id: id,
        order_id: orderId,
        warnings: expect.arrayContaining([
          { pointer: '/customer/phone', code: 'phone_unreadable' },
          { pointer: '/customer', code: 'unknown_field' },
          { pointer: '', code: 'unknown_field' },
        ]),
      },
    });
    expect(JSON.stringify(event)).not.toMatch(/Aisha|Khan|Zayed/);
  });

  test('with at most a hundred warnings', async () => {
    await send(account, Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, 1])));
    const [event] = await read(account, 1);
    expect(event.data.warnings).toHaveLength(101);
    expect(event.data.warnings.at(-1)).toEqual({ pointer: '', code: 'more_warnings' });
  });

  test('for a duplicate, with what changed', async () => {
    const first = await send(account, { address: 'Villa 1', items: [{ name: 'Lamp' }] });
    const same = await send(account, { source_order_id: first.id, address: 'Villa 1', items: [{ name: 'Lamp' }] });
    const changed = await send(account, { source_order_id: first.id, address: 'Villa 2', items: [{ name: 'Lamp' }] });
    const [, ...duplicates] = await read(account, 3);
    expect(duplicates).toMatchObject(
      [
        { receipt: same, pointers: [] },
        { receipt: changed, pointers: ['/address'] },
      ].map(({ receipt, pointers }) => ({
        type: 'receipt.duplicate',
        data: {
          receipt_id: receipt.receiptId,
          source_order_id: first.id,
          order_id: first.orderId,
          duplicate_of: first.receiptId,
          changed: pointers,
        },
      })),
    );
  });

  test('for a dead receipt, with its error', async () => {
    const headers = { 'Idempotency-Key': 'constant' };
    await api.order(account, { source_order_id: 'key-1' }, headers);
    const { body } = await api.order(account, { source_order_id: 'key-2' }, headers);
    const events = await read(account, 2);
    expect(events.find(({ type }: { type: string }) => type === 'receipt.dead')).toMatchObject({
      data: { receipt_id: body.kept_as, source_order_id: 'key-2', order_id: null, error: 'idempotency_key_reused' },
    });
  });

  test('for each decision of a reviewer, and for a cancellation', async () => {
    const { id, orderId, receiptId } = await send(account, { address: 'Villa 1' });
    await editStoredOrder(db, { accountId: account.id, orderId, edits: { '/address': 'Villa 2' }, by: BY });
    await review(account, orderId, 'rejected', 'sold out');
    await review(account, orderId, 'needs_review');
    await api.cancel(account, { source_order_id: id, reason: 'The customer called' });
    const events = await read(account, 5);
    expect(typesOf(events)).toEqual([
      'receipt.written',
      'order.edited',
      'order.rejected',
      'order.reopened',
      'order.cancelled',
    ]);
    const common = { receipt_id: receiptId, source_order_id: id, order_id: orderId };
    expect(events.slice(1).map(({ data }: { data: object }) => data)).toEqual([
      { sequence: 2, ...common },
      { sequence: 3, ...common, reason: 'sold out' },
      { sequence: 4, ...common },
      { sequence: 5, ...common, reason: 'The customer called' },
    ]);
  });

  test('for an order whose cancellation was held: it is written, then cancelled', async () => {
    const id = `held-${++orders}`;
    expect((await api.cancel(account, { source_order_id: id })).body.outcome).toBe('held');
    await send(account, { source_order_id: id });
    expect(typesOf(await read(account, 2))).toEqual(['receipt.written', 'order.cancelled']);
  });
});

describe('a confirmation is published', () => {
  test('when dispatching can see the order, and not before', async () => {
    const { orderId } = await send(account);
    await read(account, 1);
    await review(account, orderId, 'confirmed');
    expect(await knex('dispatchable_orders').where({ order_id: orderId })).toEqual([]);
    await endUndoTime(orderId);
    expect(typesOf(await read(account, 2))).toEqual(['receipt.written', 'order.confirmed']);
    expect(await knex('dispatchable_orders').where({ order_id: orderId })).toHaveLength(1);
  });

  test('also while an older transaction is open', async () => {
    const { orderId } = await send(account);
    await read(account, 1);
    const older = await knex.transaction();
    try {
      await older.raw('select pg_current_xact_id()');
      await review(account, orderId, 'confirmed');
      await endUndoTime(orderId);
      expect(typesOf(await read(account, 2))).toEqual(['receipt.written', 'order.confirmed']);
      expect(await knex('dispatchable_orders').where({ order_id: orderId })).toHaveLength(1);
    } finally {
      await older.rollback();
    }
  });

  test.each(['undone', 'cancelled'])('never if it was %s in time', async (how) => {
    const { id, orderId } = await send(account);
    await review(account, orderId, 'confirmed');
    if (how === 'undone') await undoReview(db, { accountId: account.id, orderIds: [orderId], by: BY });
    else await api.cancel(account, { source_order_id: id });
    await endUndoTime(orderId);
    await send(account);
    const types = typesOf(await read(account, how === 'undone' ? 2 : 3));
    expect(types).not.toContain('order.confirmed');
    expect(types).not.toContain('order.reopened');
  });

  test('never if it was undone after events were disabled', async () => {
    const { orderId } = await send(account);
    await review(account, orderId, 'confirmed');
    await setEvents(db, account.id, false);
    await undoReview(db, { accountId: account.id, orderIds: [orderId], by: BY });
    await setEvents(db, account.id, true);
    await endUndoTime(orderId);
    await send(account);
    expect(typesOf(await read(account, 2))).toEqual(['receipt.written', 'receipt.written']);
  });

  test('before the request to cancel the order', async () => {
    const { id, orderId } = await send(account);
    await read(account, 1);
    await review(account, orderId, 'confirmed');
    await dispatch(knex, orderId);
    expect((await api.cancel(account, { source_order_id: id, reason: 'late' })).body.outcome).toBe('requested');
    const events = await read(account, 3);
    expect(typesOf(events)).toEqual(['receipt.written', 'order.confirmed', 'order.cancel_requested']);
    expect(events.at(-1).data.reason).toBe('late');
  });
});

test('undoing a rejection publishes order.reopened', async () => {
  const { orderId } = await send(account);
  await review(account, orderId, 'rejected');
  await undoReview(db, { accountId: account.id, orderIds: [orderId], by: BY });
  expect(typesOf(await read(account, 3))).toEqual(['receipt.written', 'order.rejected', 'order.reopened']);
});

describe('the event log', () => {
  test('is read in pages without gaps', async () => {
    await api.batch(
      account,
      Array.from({ length: 25 }, (_, index) => ({ source_order_id: `page-${index}` })),
    );
    const all = await read(account, 25, 'limit=1000');
    const seen: { id: string; data: { sequence: number } }[] = [];
    let after = '';
    for (let more = true; more; ) {
      const { body } = await api.events(account, `limit=10${after}`);
      seen.push(...body.events);
      more = body.more;
      after = `&after=${body.next}`;
    }
    expect(seen).toEqual(all);
    expect(seen.map(({ data }) => data.sequence)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(25);
    expect((await api.events(account, after.slice(1))).body).toEqual({ events: [], next: '25', more: false });
  });

  test('ends a page at about a megabyte', async () => {
    await knex.raw(
      `insert into events select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'large', n,
         jsonb_build_object('warnings', jsonb_build_array(jsonb_build_object('pointer', repeat(md5(n::text), 3000), 'code', 'x')))
       from generate_series(1, 100) as n`,
      [account.id],
    );
    await knex('event_logs').where({ account_id: account.id }).update({ last_sequence: 100 });
    let after = 0;
    let pages = 0;
    for (let more = true; more; pages += 1) {
      const { body } = await api.events(account, `after=${after}&limit=1000`);
      expect(body.events[0].data.sequence).toBe(after + 1);
      after = Number(body.next);
      more = body.more;
    }
    expect(after).toBe(100);
    expect(pages).toBeGreaterThan(1);
  });

  test('waits for the next event', async () => {
    const waiting = api.events(account, 'after=0', { Prefer: 'wait=30' });
    await send(account);
    const { body, headers } = await waiting;
    expect(typesOf(body.events)).toEqual(['receipt.written']);
    expect(headers['preference-applied']).toBe('wait=30');
    const empty = await api.events(account, 'after=1', { Prefer: 'wait=1' });
    expect(empty.body).toEqual({ events: [], next: '1', more: false });
    expect(empty.headers['preference-applied']).toBe('wait=1');
  });

  test('skips all that is stored after "newest"', async () => {
    expect((await api.events(account, 'after=newest')).body).toEqual({ events: [], next: '0', more: false });
    await send(account);
    await read(account, 1);
    expect((await api.events(account, 'after=newest')).body).toEqual({ events: [], next: '1', more: false });
  });

  test('has a gap after a restore, and waits for the event behind it', async () => {
    await send(account);
    await send(account);
    await read(account, 2);
    await knex('event_logs').where({ account_id: account.id }).increment('last_sequence', 1_000_000);
    // A cursor of the time that was lost is as good as one of before.
    for (const after of ['2', '50']) {
      const page = await api.events(account, `after=${after}`);
      expect(page.body).toEqual({ events: [], next: after, more: false });
    }
    const waiting = ['2', '50'].map((after) => api.events(account, `after=${after}`, { Prefer: 'wait=30' }));
    await send(account);
    for (const { body } of await Promise.all(waiting)) {
      expect(body).toMatchObject({ events: [{ data: { sequence: 1_000_003 } }], next: '1000003', more: false });
    }
    expect(await readEventLog(db, account.id)).toMatchObject({ first_sequence: 1, last_sequence: 1_000_003 });
  });

  test('ends a wait when events are disabled', async () => {
    const other = await stack.account({ events: true });
    const waiting = api.events(account, 'after=0', { Prefer: 'wait=30' });
    const longer = api.events(other, 'after=0', { Prefer: 'wait=30' }).then(() => null);
    // The wait may not have begun yet; the reply is the same.
    await sleep(100);
    await setEvents(db, account.id, false);
    expect(await Promise.race([waiting, longer])).toMatchObject({ status: 409, body: { code: 'events_disabled' } });
    await setEvents(db, other.id, false);
    await longer;
  });

  test('is only that of the account', async () => {
    const other = await stack.account({ events: true });
    await send(account);
    await read(account, 1);
    expect((await api.events(other)).body).toEqual({ events: [], next: '0', more: false });
  });

  test.each([
    ['after=x', 'after'],
    ['after=-1', 'after'],
    ['after=1&after=2', 'after'],
    ['after=9999999999999999', 'after'],
    ['after=7', 'after'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
  ])('refuses ?%s', async (query, parameter) => {
    const { status, body } = await api.events(account, query);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_query' });
    expect(body.detail).toContain(`"${parameter}"`);
  });

  test('is refused while the account has no events', async () => {
    const account = await stack.account();
    expect(await api.events(account)).toMatchObject({ status: 409, body: { code: 'events_disabled' } });
    expect(await api.events({ ...account, key: 'none' })).toMatchObject({ status: 401 });
  });
});

test('a round of publishing has a total limit, and begins after the account that the last one reached', async () => {
  await withStack('postgres', async (idle) => {
    const { knex: db, url } = idle.database;
    const accounts = [await idle.account(), await idle.account(), await idle.account()].map(({ id }) => id);
    for (const id of accounts) {
      await setEvents(connectionOf(db), id, true);
      await db.raw(
        `insert into unpublished_events (account_id, type, receipt_id, source_order_id)
         select ?, 'receipt.dead', gen_random_uuid(), 'x' from generate_series(1, 4)`,
        [id],
      );
    }
    const database = openDatabase({ url, poolSize: 1, prepared: true });
    try {
      const published = async () =>
        (await db('event_logs').orderBy('account_id').select('last_sequence')).map(
          ({ last_sequence }) => last_sequence,
        );
      const publish = (after: number) => publishEvents(database, { perAccount: 3, total: 5 }, after);
      const [first = 0, second = 0, third = 0] = accounts;
      expect(await publish(0)).toEqual({ count: 5, hasMore: true, lastAccountId: second });
      expect(await published()).toEqual([3, 2, 0]);
      expect(await publish(second)).toEqual({ count: 5, hasMore: true, lastAccountId: second });
      expect(await published()).toEqual([4, 3, 3]);
      expect(await publish(first)).toEqual({ count: 2, hasMore: false, lastAccountId: third });
      expect(await publish(third)).toEqual({ count: 0, hasMore: false, lastAccountId: null });
    } finally {
      await closeDatabase(database);
    }
  });
});

test('a round of events that takes too long is divided, so that it delays no other account for ever', async () => {
  await withStack('postgres', async (slow) => {
    const { knex: db } = slow.database;
    const { api } = await slow.intake();
    const [heavy, other] = [await slow.account(), await slow.account()];
    for (const { id } of [heavy, other]) await setEvents(connectionOf(db), id, true);
    // As Postgres does with a statement that takes longer than PG_QUERY_TIMEOUT.
    await db.raw(`
      create function cancel_many() returns trigger language plpgsql as $$
      begin
        if (select count(*) from added) > 20 then raise exception using errcode = 'query_canceled'; end if;
        return null;
      end $$;
      create trigger cancel_many after insert on events referencing new table as added
      for each statement execute function cancel_many()`);
    await db.raw(
      `insert into unpublished_events (account_id, type, receipt_id, source_order_id)
       select ?, 'receipt.dead', gen_random_uuid(), 'x' from generate_series(1, 500)`,
      [heavy.id],
    );
    await slow.worker();
    await api.order(other, { source_order_id: 'y' });
    await until('the event of the other account', async () => (await api.events(other)).body.events.length === 1);
    await until('all events', async () => (await readEventLog(connectionOf(db), heavy.id)).last_sequence === 500);
  });
});

test('an account without events adds no row', async () => {
  const account = await stack.account();
  const { id, orderId } = await send(account);
  await send(account, { source_order_id: id });
  await review(account, orderId, 'rejected');
  const tables = ['event_logs', 'unpublished_events', 'events'];
  for (const table of tables) expect(await knex(table).where({ account_id: account.id })).toEqual([]);
});

test('an event that an erasure changes keeps its place, and delays no other account', async () => {
  const other = await stack.account({ events: true });
  const rows = ['first', 'second'].map((source_order_id) => ({
    account_id: account.id,
    due_at: knex.raw(source_order_id === 'first' ? "now() + interval '1 second'" : "now() + interval '2 seconds'"),
    type: 'order.rejected',
    receipt_id: randomUUID(),
    source_order_id,
    details: { reason: 'sold out' },
  }));
  await knex('unpublished_events').insert(rows);
  const erasing = await knex.transaction();
  try {
    await erasing('unpublished_events')
      .where({ account_id: account.id, source_order_id: 'first' })
      .update({ details: {} });
    await until('both events are due', async () => {
      const { rows: due } = await knex.raw(
        'select where now() > (select max(due_at) from unpublished_events where account_id = ?)',
        [account.id],
      );
      return due.length > 0;
    });
    // The first is recorded after both are due, and the second after a round that passed over them.
    for (const count of [1, 2]) {
      await send(other);
      await read(other, count);
    }
    expect((await api.events(account)).body.events).toEqual([]);
  } finally {
    await erasing.commit();
  }
  const events = await read(account, 2);
  expect(events.map(({ data }: { data: { source_order_id: string } }) => data.source_order_id)).toEqual([
    'first',
    'second',
  ]);
});

test('a log whose counter another session locks delays no other account', async () => {
  const other = await stack.account({ events: true });
  const locking = await knex.transaction();
  try {
    await locking('event_logs').where({ account_id: account.id }).forUpdate();
    for (const count of [1, 2]) {
      await send(account);
      await send(other);
      await read(other, count);
    }
    expect((await api.events(account)).body.events).toEqual([]);
  } finally {
    await locking.commit();
  }
  expect(await read(account, 2)).toHaveLength(2);
});

test('an erasure removes reasons from events', async () => {
  const { id, orderId, receiptId } = await send(account, { customer: { phone: '+971501234567' } });
  await review(account, orderId, 'rejected', 'Aisha moved');
  await read(account, 2);
  await review(account, orderId, 'needs_review');
  await review(account, orderId, 'confirmed');
  await dispatch(knex, orderId);
  const publishing = await hold(knex, `select pg_advisory_xact_lock(${PUBLISH_LOCK})`);
  await api.cancel(account, { source_order_id: id, reason: 'Aisha called' });
  const search = searchCustomer({ phone: '+971501234567' });
  await eraseOrder(db, {
    accountId: account.id,
    sourceOrderId: id,
    receiptIds: [receiptId],
    foundBy: receiptId,
    matched: new Set(['customer']),
    orderId,
    reviewState: 'confirmed',
    search,
    actor: 'operator',
    by: ['phone'],
  });
  expect(JSON.stringify(await knex('events'))).not.toContain('Aisha');
  expect(JSON.stringify(await knex('unpublished_events'))).not.toContain('Aisha');
  await publishing.release();
});

test('events that are removed while a page is read are not skipped', async () => {
  await send(account);
  await send(account);
  await read(account, 2);
  const pruning = await knex.transaction();
  let reading: ReturnType<typeof api.events>;
  try {
    await pruning.raw('lock table events in access exclusive mode');
    reading = api.events(account, 'after=0');
    // The reader has read the state of the log, and waits for its events.
    await until('the reader waits', async () => {
      const { rows } = await knex.raw(
        `select from pg_stat_activity
         where application_name = 'orders intake' and wait_event_type = 'Lock' and query like '%from events%'`,
      );
      return rows.length > 0;
    });
    await pruning('events').where({ account_id: account.id, sequence: 1 }).delete();
    await pruning('event_logs').where({ account_id: account.id }).update({ removed_to: 1 });
  } finally {
    await pruning.commit();
  }
  expect(await reading).toMatchObject({ status: 410, body: { code: 'cursor_expired' } });
});

test('old events are removed, and older cursors are refused', async () => {
  await send(account);
  await send(account);
  await read(account, 2);
  await knex('events')
    .where({ account_id: account.id, sequence: 1 })
    .update({ happened_at: knex.raw("now() - interval '40 days'") });
  const restarted = await stack.worker();
  await until('the old event is removed', async () => {
    const rows = await knex('events').where({ account_id: account.id });
    return rows.length === 1;
  });
  await restarted.close();
  expect(await api.events(account, 'after=0')).toMatchObject({ status: 410, body: { code: 'cursor_expired' } });
  const { body } = await api.events(account);
  expect(body.events).toMatchObject([{ data: { sequence: 2 } }]);
  expect((await api.events(account, 'after=1')).body).toEqual(body);
  expect(worker.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
