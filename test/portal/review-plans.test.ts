import { expect, test } from '@jest/globals';
import { findReceiptBody } from '@orders/database/receipts/find-receipt.ts';
import { inTransaction } from '@orders/database/run.ts';
import { findChangedDeliveries, markChangedDeliveries } from '@orders/portal/review/find-changed-deliveries.ts';
import { findEarlierOrders } from '@orders/portal/review/find-earlier-orders.ts';
import { countNotes, findNotes } from '@orders/portal/review/find-notes.ts';
import { findOrderHistory, findReviewedOrder } from '@orders/portal/review/find-reviewed-order.ts';
import { findSimilar } from '@orders/portal/review/find-similar.ts';
import { findSnoozes, listSnoozed } from '@orders/portal/review/find-snoozes.ts';
import { countNeedingReview, listReviewSince } from '@orders/portal/review/list-new-orders.ts';
import { findCancellationRequest, listOpenRequests } from '@orders/portal/review/list-requests.ts';
import { listReview } from '@orders/portal/review/list-review.ts';
import { listMatchingIds, listSorted } from '@orders/portal/review/list-sorted.ts';
import { listById, listUpdates } from '@orders/portal/review/list-updates.ts';
import { claimNext } from '@orders/portal/review/next-order-routes.ts';
import { findPrint } from '@orders/portal/review/print-routes.ts';
import type { ReviewFilter } from '@orders/portal/review/review-filter.ts';
import { readReviewTarget } from '@orders/portal/review/review-target-routes.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { countReads } from '../harness/count-reads.ts';
import { apart, insertOrders, NO_FILTER, stopAutovacuum } from '../harness/review-list.ts';
import { useDatabase } from '../harness/use-stack.ts';

const FEW_ROWS = 120;
const ACCOUNT = 7;
const ACCOUNTS = 5000;
const WITH_STATISTICS = 'of full tables with statistics';

const { db } = useDatabase({ direct: true });

const ALL: ReviewFilter = {
  accountId: ACCOUNT,
  state: 'needs_review',
  ...NO_FILTER,
};

/** Inserts orders of this account and another one in turn. One in five thousand has a unique name. */
const fill = (orders: number) =>
  db.knex.raw(
    `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone, items, warnings,
                         severity, currency, received_at, written_at)
     select case when i % 2 = 0 then ${ACCOUNT} else 8 end, 'SHOP-' || i, 'SHOP-' || i, 'rest', gen_random_uuid(),
            case when i % 10000 = 2 then 'Rare' else 'Common' end, '+9715' || (10000000 + i), '[]', '[]', 'blocks', 'AED',
            now() - (? - i) * interval '1 second', now() - (? - i) * interval '1 second'
     from generate_series(1, ?::int) as i`,
    [orders, orders, orders],
  );

const page = (filter: Partial<ReviewFilter>, below: number | null = null) =>
  listReview(db.database, { ...ALL, ...filter }, { after: below, limit: 50 });

const PAGE_OF_ORDERS = Array.from({ length: 50 }, (_, index) => ({ order_id: 2 * index + 2 }));

const UPDATED = {
  accountId: ACCOUNT,
  orderIds: PAGE_OF_ORDERS.map(({ order_id }) => order_id),
  state: 'needs_review' as const,
  open: null,
};

const ONE_ORDER = {
  order_id: 30_000,
  customer: { name: null, phone: '+971510030000', email: null, id: null },
  total: null,
  received_at: new Date(),
};

/** Ten changed deliveries of every fifth order, every second one with changes, and 20,000 of the first order without changes. */
const fillChangedDeliveries = (orders: number) =>
  db.knex.raw(
    `insert into changed_deliveries (account_id, order_id, receipt_id, changes)
     select ${ACCOUNT}, i * 5, gen_random_uuid(), case when n % 2 = 0 then '[]'::jsonb end
     from generate_series(1, ?::int / 5) as i, generate_series(1, 10) as n
     union all
     select ${ACCOUNT}, 1, gen_random_uuid(), null from generate_series(1, 20_000)`,
    [orders],
  );

/** A cancellation request of each order: of this account one in a hundred is open, of the other one all are. */
const fillRequests = () =>
  db.knex.raw(
    `insert into cancellation_requests (account_id, order_id, requested_at, requested_by, closed_at)
     select account_id, order_id, received_at, 'key:test',
            case when account_id = ${ACCOUNT} and order_id % 100 <> 2 then now() end
     from orders`,
  );

/** Ten snoozed orders of this account, and thousands of the other one. */
const fillSnoozes = () =>
  db.knex.raw(
    `insert into order_snoozes (account_id, order_id, until, by)
     select account_id, order_id, now() + interval '1 hour', 'test' from orders
     where account_id <> ${ACCOUNT} or order_id <= 20`,
  );

/** Queries of the list, and the maximum number of rows of each. A plan that scans the list reads 30,000. */
const CASES: [string, number, () => Promise<unknown>][] = [
  ['open', FEW_ROWS, () => page({})],
  ['a page in the middle', FEW_ROWS, () => page({}, 30_000)],
  ['a common word', FEW_ROWS, () => page({ searchTerms: 'comm' })],
  ['a common channel', FEW_ROWS, () => page({ channel: 'rest' })],
  ['a rare word', 1200, () => page({ searchTerms: 'rare' })],
  ['the beginning of some order numbers', 2500, () => page({ searchTerms: 'SHOP-18' })],
  ['the end of a phone number', 1200, () => page({ searchTerms: '0012346' })],
  ['what nobody has', 1200, () => page({ searchTerms: 'nobody' })],
  ['a channel that nobody uses', 4200, () => page({ channel: 'webhook' })],
  ['older than most', 400, () => page({ writtenBefore: new Date(Date.now() - 55_000_000) })],
  ['the last hour', 400, () => page({ writtenAfter: new Date(Date.now() - 3_600_000) })],
  ['confirmed', FEW_ROWS, () => page({ state: 'confirmed' })],
  ['news', 1200, () => listReviewSince(db.database, ALL, { after: 59_990, limit: 50 })],
  ['marks of those that were sent again', 200, () => markChangedDeliveries(db.database, ACCOUNT, PAGE_OF_ORDERS)],
  ['what was sent again of one', FEW_ROWS, () => findChangedDeliveries(db.database, ACCOUNT, [30_000])],
  ['what was sent again of one without end', FEW_ROWS, () => findChangedDeliveries(db.database, ACCOUNT, [1])],
  ['its mark', FEW_ROWS, () => markChangedDeliveries(db.database, ACCOUNT, [{ order_id: 1 }])],
  ['count', 10_100, () => countNeedingReview(db.database, ACCOUNT)],
  ['the review target', FEW_ROWS, () => readReviewTarget(db.database, ACCOUNT)],
  ['one order', FEW_ROWS, () => findReviewedOrder(db.database, ACCOUNT, 30_000)],
  ['its payload', FEW_ROWS, () => findReceiptBody(db.database, ACCOUNT, '01890000-0000-7000-8000-000000000000')],
  ['oldest first', FEW_ROWS, () => listReview(db.database, ALL, { limit: 50, first: 'oldest' })],
  ['by total', 20_500, () => listSorted(db.database, ALL, { sort: 'total', after: null, limit: 50, similar: false })],
  ['all ids', 20_500, () => listMatchingIds(db.database, ALL, false)],
  ['updates', 800, () => listUpdates(db.database, ACCOUNT, Date.now())],
  ['orders with updates', 200, () => listById(db.database, UPDATED)],
  ['likely duplicates', 1500, () => findSimilar(db.database, ACCOUNT, ONE_ORDER)],
  ['its notes', FEW_ROWS, () => findNotes(db.database, ACCOUNT, 30_000)],
  ['numbers of notes', 200, () => countNotes(db.database, ACCOUNT, UPDATED.orderIds)],
  ['open cancellation requests', 1200, () => listOpenRequests(db.database, ACCOUNT)],
  ['its cancellation request', FEW_ROWS, () => findCancellationRequest(db.database, ACCOUNT, 30_000)],
  ['what is snoozed', FEW_ROWS, () => listSnoozed(db.database, ACCOUNT)],
  ['its snooze', FEW_ROWS, () => findSnoozes(db.database, ACCOUNT, [30_000])],
  ['its print', FEW_ROWS, () => findPrint(db.database, ACCOUNT, 30_000)],
  ['its history', FEW_ROWS, () => findOrderHistory(db.database, ACCOUNT, 30_000)],
];

test('no list query reads a full list, whether it was planned for an empty or a full one', async () => {
  await stopAutovacuum(db.knex);
  for (const [, , work] of CASES) for (let time = 0; time < 3; time += 1) await work();
  await db.knex.raw(
    'insert into accounts (account_id, name) overriding system value select i, i::text from generate_series(1, ?::int) as i',
    [ACCOUNTS],
  );
  await fill(60_000);
  await fillChangedDeliveries(20_000);
  await fillRequests();
  await fillSnoozes();
  await apart(db, async (knex) => {
    while ((await fillSearchTerms(connectionOf(knex))) > 0);
  });
  for (const plans of ['of empty tables', 'of full tables without statistics', WITH_STATISTICS]) {
    if (plans === WITH_STATISTICS) await db.knex.raw('analyze');
    if (plans !== 'of empty tables') await db.database.pool.query('discard plans');
    const tooMany: [string, number][] = [];
    for (const [name, most, work] of CASES) {
      const rows = await countReads([db.knex, db.database], 'rows', work);
      // Postgres can plan a statement again at any time. Until autovacuum first analyzes the table, it then sorts the changed deliveries.
      const isSorted = name === 'updates' && plans !== WITH_STATISTICS;
      if (rows > (isSorted ? 20_200 : most)) tooMany.push([name, rows]);
    }
    expect([plans, tooMany]).toEqual([plans, []]);
  }
  expect((await page({ searchTerms: 'rare' })).orders).toHaveLength(6);
  expect((await page({ searchTerms: 'SHOP-18' })).orders).toHaveLength(50);
});

test('filling search terms reads each account once and no orders of other accounts', async () => {
  // Each second one more of these reaches the age of a minute.
  await apart(db, (knex) => knex('orders').where('order_id', '>', 59_900).delete());
  const fillOnce = () => apart(db, (knex) => fillSearchTerms(connectionOf(knex)));
  const idleReads = await countReads([db.knex, db.database], 'rows', async () => {
    expect(await fillOnce()).toBe(0);
  });
  expect(idleReads).toBeLessThan(ACCOUNTS + FEW_ROWS);
  await insertOrders(db.knex, 4000, 500);
  await insertOrders(db.knex, 8, 500);
  const batchReads = await countReads([db.knex, db.database], 'rows', async () => {
    expect(await fillOnce()).toBe(1000);
  });
  expect(batchReads).toBeLessThan(ACCOUNTS + 2 * 1000 + FEW_ROWS);
});

test('with tens of thousands of decided orders, the next one and the earlier ones of a customer are found in their indexes', async () => {
  const regular = { order_id: 60_000, customer: { ...ONE_ORDER.customer, phone: '+971500000001' } };
  await db.knex.raw(
    `update orders set review_state = 'confirmed', customer_phone = case when order_id % 40 = 0 then '+971500000001' else customer_phone end
     where order_id < 59000`,
  );
  const next = () =>
    inTransaction(db.database, (transaction) => claimNext(transaction, { accountId: ACCOUNT, userId: 'one' }, {}));
  const cases: [string, () => Promise<unknown>][] = [
    ['the next order', next],
    ['earlier orders of a regular customer', () => findEarlierOrders(db.database, ACCOUNT, regular)],
    ['earlier orders of a new customer', () => findEarlierOrders(db.database, ACCOUNT, ONE_ORDER)],
  ];
  for (const command of ['vacuum', 'vacuum analyze']) {
    await db.knex.raw(`${command} orders`);
    // Postgres plans the first five times for the parameters and may then have one plan for all.
    for (let time = 0; time < 7; time += 1)
      for (const [name, work] of cases) {
        const rows = await countReads([db.knex, db.database], 'rows', work);
        expect([command, name, rows < FEW_ROWS ? 'few' : rows]).toEqual([command, name, 'few']);
      }
  }
  expect(await next()).toEqual({ order_id: 59_000, all_taken: false });
  expect(await findEarlierOrders(db.database, ACCOUNT, regular)).toMatchObject({ count: 20, is_more: true });
});
