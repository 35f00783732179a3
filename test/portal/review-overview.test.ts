import { describe, expect, test } from '@jest/globals';
import { listAudit } from '@orders/database/audit.ts';
import { readReviewOverview } from '@orders/portal/review/review-routes.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { codeOf } from '../harness/api.ts';
import { countReads } from '../harness/count-reads.ts';
import { createPerson, openShop, type Shop, signIn } from '../harness/people.ts';
import { apart, extendUndo, insertOrder, insertOrders } from '../harness/review-list.ts';
import { useDatabase, useStack } from '../harness/use-stack.ts';

const HOUR_MS = 3_600_000;

const { stack, knex, portal, shop } = useStack({ portal: true, shop: 'each test' });

const insert = (shop: Shop, columns?: Record<string, unknown>) => insertOrder(knex, shop.account.id, columns);

const DELIVERABLE = {
  customer_phone: '+971501234567',
  address: 'Villa 2',
  emirate_code: 'AE-DU',
  items: JSON.stringify([{ name: 'Karak', quantity: 1, sku: null }]),
};
const warned = (code: string) => JSON.stringify([{ pointer: '/address', code, detail: 'A warning.' }]);

/** The overview, by default of days in a time zone where it is about noon, so that the last minutes are of today. */
async function overviewOf(shop: Pick<Shop, 'get'>, timeZone = zoneAtHour(12)) {
  const { status, body } = await shop.get(`/overview/review?time_zone=${encodeURIComponent(timeZone)}`);
  expect([status, body]).toEqual([200, body]);
  return body;
}

/** A time zone in which it is now between `hour` and the next one. */
function zoneAtHour(hour: number): string {
  const ahead = ((hour - new Date().getUTCHours() + 36) % 24) - 12;
  // The sign of these names is the other way round than usual.
  return ahead === 0 ? 'Etc/UTC' : `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}

async function review(shop: Shop, to: 'confirmed' | 'rejected', order_ids: number[]): Promise<void> {
  const { body } = await shop.post('/orders/review', { order_ids, to, ...(to === 'rejected' && { reason: 'no' }) });
  expect(body.changed).toEqual(order_ids);
}

/** Moves decisions and their events into the past, as if they had been made `hours` ago. */
async function makeOlder(shop: Shop, orderIds: number[], hours: number): Promise<void> {
  const by = (column: string) => ({ [column]: knex.raw(`${column} - ? * interval '1 hour'`, [hours]) });
  await knex('orders').whereIn('order_id', orderIds).update(by('reviewed_at'));
  const subjects = orderIds.map((id) => `order:${id}`);
  await knex('audit_events').where({ account_id: shop.account.id }).whereIn('subject', subjects).update(by('at'));
}

const sum = (counts: { count: number }[]) => counts.reduce((total, { count }) => total + count, 0);

test('an account without orders has an empty overview of 24 hours', async () => {
  const thisHour = () => Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const before = thisHour();
  const { waiting, confirmed, rejected } = await overviewOf(shop);
  expect(waiting).toEqual({
    count: 0,
    capped: false,
    by_severity: { blocks: 0, check: 0, corrected: 0, none: 0 },
    oldest_at: null,
    money: [],
  });
  const { per_hour, ...counts } = confirmed;
  expect(counts).toEqual({ last_hour: 0, today: 0, money_today: [], capped: false });
  expect(rejected).toEqual({ today: 0 });
  // The hour can end meanwhile.
  const last = Date.parse(per_hour.at(-1).at);
  expect([before, thisHour()]).toContain(last);
  const hours = Array.from({ length: 24 }, (_, index) => new Date(last - (23 - index) * HOUR_MS).toISOString());
  expect(per_hour).toEqual(hours.map((at) => ({ at, count: 0 })));
});

describe('the orders that wait', () => {
  test('are counted by severity, with the oldest and the money', async () => {
    const received_at = new Date('2026-01-02T03:04:05Z');
    await insert(shop, { ...DELIVERABLE, total: '10.10', received_at });
    await insert(shop, { ...DELIVERABLE, total: '20.25', warnings: warned('emirate_corrected') });
    await insert(shop, { ...DELIVERABLE, total: '400', currency: 'USD', warnings: warned('phone_with_text') });
    await insert(shop, { ...DELIVERABLE, address: null });
    await insert(shop, { warnings: warned('emirate_corrected') });
    for (const review_state of ['confirmed', 'rejected'])
      await insert(shop, { ...DELIVERABLE, total: '5', review_state });
    expect((await overviewOf(shop)).waiting).toEqual({
      count: 5,
      capped: false,
      by_severity: { blocks: 2, check: 1, corrected: 1, none: 1 },
      oldest_at: received_at.toISOString(),
      money: [
        { currency: 'USD', total: '400' },
        { currency: 'AED', total: '30.35' },
      ],
    });
  });

  test('are counted up to 10,000', async () => {
    await insertOrders(knex, shop.account.id, 10_000);
    expect((await overviewOf(shop)).waiting).toMatchObject({ count: 10_000, capped: false });
    await insert(shop, DELIVERABLE);
    expect((await overviewOf(shop)).waiting).toMatchObject({
      count: 10_000,
      capped: true,
      by_severity: { blocks: 9999, none: 1 },
    });
  });
});

describe('decisions', () => {
  test('are counted by hour and day, with the money of confirmed orders', async () => {
    const ids: number[] = [];
    for (const total of ['1.5', '2', '4', '8', '16', null]) ids.push(await insert(shop, { ...DELIVERABLE, total }));
    const [now, alsoNow, threeHoursAgo, yesterday, refused, without] = ids as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    await review(shop, 'confirmed', [now, alsoNow, threeHoursAgo, yesterday, without]);
    await review(shop, 'rejected', [refused]);
    await makeOlder(shop, [threeHoursAgo], 3);
    await makeOlder(shop, [yesterday], 20);
    const { confirmed, rejected, waiting } = await overviewOf(shop);
    expect(waiting.count).toBe(0);
    expect(confirmed).toMatchObject({
      last_hour: 3,
      today: 4,
      money_today: [{ currency: 'AED', total: '7.5' }],
      capped: false,
    });
    expect(rejected).toEqual({ today: 1 });
    expect(sum(confirmed.per_hour)).toBe(5);
    expect(sum(confirmed.per_hour.slice(-2))).toBe(3);
    expect(sum(confirmed.per_hour.slice(-5, -2))).toBe(1);
    expect(sum(confirmed.per_hour.slice(0, 5))).toBe(1);
  });

  test('older than a day are not counted', async () => {
    const ids = [await insert(shop, DELIVERABLE), await insert(shop, DELIVERABLE)] as [number, number];
    await review(shop, 'confirmed', [ids[0]]);
    await makeOlder(shop, [ids[0]], 30);
    await review(shop, 'confirmed', [ids[1]]);
    const { confirmed } = await overviewOf(shop);
    expect([confirmed.today, sum(confirmed.per_hour)]).toEqual([1, 1]);
  });

  test('that were undone or made again count once, as what they are now', async () => {
    const [undone, reopened] = [await insert(shop, DELIVERABLE), await insert(shop, { ...DELIVERABLE, total: '3' })];
    await review(shop, 'confirmed', [undone]);
    await extendUndo(knex, [undone]);
    await shop.post('/orders/review/undo', { order_ids: [undone] });
    await review(shop, 'rejected', [reopened]);
    expect(await overviewOf(shop)).toMatchObject({ confirmed: { today: 0 }, rejected: { today: 1 } });
    await shop.post('/orders/review', { order_ids: [reopened], to: 'needs_review' });
    expect(await overviewOf(shop)).toMatchObject({ rejected: { today: 0 }, waiting: { count: 2 } });
    await review(shop, 'confirmed', [reopened]);
    const { confirmed, rejected } = await overviewOf(shop);
    expect([confirmed.today, confirmed.last_hour, rejected.today]).toEqual([1, 1, 0]);
    expect([sum(confirmed.per_hour), confirmed.money_today]).toEqual([1, [{ currency: 'AED', total: '3' }]]);
  });

  test('are of today from midnight in the given time zone', async () => {
    const ids = [await insert(shop, DELIVERABLE), await insert(shop, DELIVERABLE)] as [number, number];
    await review(shop, 'confirmed', [ids[0]]);
    await review(shop, 'rejected', [ids[1]]);
    await makeOlder(shop, ids, 3);
    const at = async (hour: number) => {
      const { confirmed, rejected } = await overviewOf(shop, zoneAtHour(hour));
      return [confirmed.today, rejected.today, sum(confirmed.per_hour)];
    };
    expect(await at(5)).toEqual([1, 1, 1]);
    expect(await at(1)).toEqual([0, 0, 1]);
  });

  test('are of hours that begin when the clocks of the time zone show a full one', async () => {
    const { confirmed } = await overviewOf(shop, 'Asia/Kolkata');
    for (const { at } of confirmed.per_hour) expect(at).toMatch(/:30:00.000Z$/);
  });
});

test('the time zone is a known name', async () => {
  for (const name of ['', 'Mars/Olympus', '+04:00', 'Asia/Dubai+1', "Asia/Dubai'", 'GST-4', 'posix/Asia/Dubai']) {
    const { status, body } = await shop.get(`/overview/review?time_zone=${encodeURIComponent(name)}`);
    expect([name, status, body.code]).toEqual([name, 422, 'invalid_request']);
  }
  for (const name of ['Asia/Dubai', 'Europe/London', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT-4'])
    await overviewOf(shop, name);
  expect((await shop.get('/overview/review')).body).toEqual(await overviewOf(shop, 'Asia/Dubai'));
});

test('an overview has nothing of other accounts', async () => {
  const [shop, other] = [await openShop(stack, portal), await openShop(stack, portal)];
  const ids = [await insert(other, DELIVERABLE), await insert(other, DELIVERABLE), await insert(other, DELIVERABLE)];
  await review(other, 'confirmed', ids.slice(0, 1));
  await review(other, 'rejected', ids.slice(1, 2));
  expect(await overviewOf(other)).toMatchObject({
    waiting: { count: 1 },
    confirmed: { today: 1 },
    rejected: { today: 1 },
  });
  expect(await overviewOf(shop)).toMatchObject({
    waiting: { count: 0 },
    confirmed: { today: 0 },
    rejected: { today: 0 },
  });
  const client = await signIn(portal, await createPerson(stack, shop.account.id));
  expect(codeOf(await client.get(`/accounts/${other.account.id}/overview/review`))).toEqual([404, 'account_not_found']);
});

describe('with many orders', () => {
  const [ACCOUNT, BUSY] = [7, 8];
  const ORDERS = 30_000;
  const { db } = useDatabase({ direct: true });

  /** Both accounts have as many orders that wait; the busy one also confirmed as many in the last hour, the other two. */
  async function fill(): Promise<void> {
    for (const id of [ACCOUNT, BUSY]) await insertOrders(db.knex, id, ORDERS);
    await db.knex.raw(
      `with confirmed as (
         insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, received_at,
                             review_state, reviewed_at)
         select case when i between ?::int and ?::int + 1 then ?::int else ?::int end, 'confirmed ' || i, 'x', 'rest', gen_random_uuid(), '[]', '[]', 'blocks', 'AED', now(),
                'confirmed', now()
         from generate_series(1, ?::int) as i
         returning account_id, order_id
       )
       insert into audit_events (account_id, actor, action, subject)
       select account_id, 'a@example.test', 'order_confirmed', 'order:' || order_id from confirmed order by order_id`,
      [ORDERS / 2, ORDERS / 2, ACCOUNT, BUSY, ORDERS],
    );
  }

  test('an overview reads a bounded part of them, whether it was planned for an empty or a full database', async () => {
    const read = (accountId: number) => readReviewOverview(db.database, accountId, 'Asia/Dubai');
    for (let time = 0; time < 3; time += 1) await read(ACCOUNT);
    await fill();
    for (const before of ['', 'discard plans', 'analyze']) {
      await db.database.pool.query(before);
      // Twice the orders counted; for the busy one, also the events and their orders.
      expect(await countReads([db.knex, db.database], 'rows', () => read(ACCOUNT))).toBeLessThan(20_300);
      expect(await countReads([db.knex, db.database], 'rows', () => read(BUSY))).toBeLessThan(40_300);
    }
    expect(await read(ACCOUNT)).toMatchObject({ waiting: { count: 10_000, capped: true } });
    expect((await read(ACCOUNT)).confirmed).toMatchObject({ last_hour: 2, capped: false });
    expect((await read(BUSY)).confirmed).toMatchObject({ last_hour: 10_000, capped: true });
  });

  test('the activity log of an account reads no newer events of others', async () => {
    for (const id of [ACCOUNT, BUSY]) {
      await db.knex.raw(
        `insert into audit_events (account_id, actor, action, subject)
         select ?, 'a@example.test', 'key_created', 'key:' || i from generate_series(1, ?::int) as i`,
        [id, ORDERS],
      );
    }
    await db.knex.raw('analyze audit_events');
    const rows = await countReads([db.knex, db.database], 'rows', () =>
      apart(db, async (knex) => {
        const events = await listAudit(connectionOf(knex), { accountId: ACCOUNT, limit: 51 });
        const rest = await listAudit(connectionOf(knex), {
          accountId: ACCOUNT,
          before: events[49]?.event_id,
          limit: 51,
        });
        expect([events.length, rest[0]]).toEqual([51, events[50]]);
      }),
    );
    expect(rows).toBeLessThan(500);
  });
});
