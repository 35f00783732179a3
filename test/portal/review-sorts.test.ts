import { beforeAll, describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { SEVERITIES, severityOf } from '@orders/domain/severity.ts';
import { markListed } from '@orders/portal/review/find-notes.ts';
import { listReview } from '@orders/portal/review/list-review.ts';
import { listMatchingIds, listSorted, type Sort, type SortedPlace } from '@orders/portal/review/list-sorted.ts';
import type { ReviewFilter } from '@orders/portal/review/review-filter.ts';
import { insertOrder, insertOrders, NO_FILTER } from '../harness/review-list.ts';
import { useDatabase } from '../harness/use-stack.ts';

const { db } = useDatabase();

const filterOf = (accountId: number, more: Partial<ReviewFilter> = {}): ReviewFilter => ({
  ...NO_FILTER,
  accountId,
  state: 'needs_review',
  ...more,
});
const insert = (accountId: number, columns: Record<string, unknown>) => insertOrder(db.knex, accountId, columns);

/** The ids of all orders of a sorted list, by pages of two. */
async function sorted(accountId: number, sort: Sort, { similar = false } = {}): Promise<number[]> {
  const ids: number[] = [];
  for (let after: SortedPlace | null = null; ; ) {
    const page = await listSorted(db.database, filterOf(accountId), { sort, after, limit: 2, similar });
    ids.push(...page.orders.map(({ order_id }) => order_id));
    after = page.places.at(-1) ?? null;
    if (!page.hasMore) return ids;
  }
}

/** Payloads with each blocker, warnings of each severity, and combinations of them. */
const PAYLOADS = [{ phone: '0501234567' }, { phone: '04 765 4321 ext. 12' }, { phone: 'call me' }, {}].flatMap(
  (customer) =>
    [{ address: 'Apt 4' }, {}].flatMap((address) =>
      [{ emirate: 'Dubai' }, { emirate: 'Atlantis' }].flatMap((emirate) =>
        [
          { items: [{ name: 'Karak' }], total: '5' },
          { items: [{ sku: 'K', quantity: '2' }] },
          { items: [{ quantity: 1 }] },
          { items: [{ name: 'Karak' }], total: 'free' },
        ].map((rest) => ({ source_order_id: 'x', customer, ...address, ...emirate, ...rest })),
      ),
    ),
);

describe('severity', () => {
  test('is listed and searched for as the domain computes it', async () => {
    const expected = new Map<number, string>();
    for (const payload of PAYLOADS) {
      const { order, warnings } = normalizeOrder(payload);
      const { customer, source_order_id: _, ...columns } = order;
      const id = await insert(1, {
        ...columns,
        customer_phone: customer.phone,
        items: JSON.stringify(order.items),
        warnings: JSON.stringify(warnings),
      });
      expected.set(id, severityOf(order, warnings));
    }
    expect(new Set(expected.values())).toEqual(new Set(SEVERITIES));
    const { orders } = await listReview(db.database, filterOf(1), { limit: 200 });
    expect(new Map(orders.toReversed().map(({ order_id, severity }) => [order_id, severity]))).toEqual(expected);
    for (const severity of SEVERITIES) {
      const ids = [...expected].filter(([, other]) => other === severity).map(([id]) => id);
      const page = await listReview(db.database, filterOf(1, { severity }), { limit: 200, first: 'oldest' });
      expect([severity, page.orders.map(({ order_id }) => order_id)]).toEqual([severity, ids]);
    }
    const found = await listMatchingIds(db.database, filterOf(1), false);
    expect(found.orderIds).toEqual([...expected.keys()].toReversed());
    expect(found.blockedIds).toEqual(found.orderIds.filter((id) => expected.get(id) === 'blocks'));
  });
});

describe('a list', () => {
  const ids: Record<string, number> = {};
  const idsOf = (names: string) => names.split(' ').map((name) => ids[name]);
  beforeAll(async () => {
    const deliverable = {
      customer_phone: '+971501234567',
      address: 'Apt 4',
      items: '[{"name":"Karak","quantity":1,"sku":null}]',
    };
    const warning = (code: string) => JSON.stringify([{ pointer: '/x', code, detail: '' }]);
    ids.free = await insert(2, { ...deliverable, emirate_code: 'AE-SH', total: null });
    ids.cheap = await insert(2, {
      ...deliverable,
      emirate_code: 'AE-DU',
      total: '9.50',
      warnings: warning('inferred'),
    });
    ids.dear = await insert(2, {
      ...deliverable,
      emirate_code: 'AE-DU',
      total: '100',
      warnings: warning('total_rounded'),
    });
    ids.blocked = await insert(2, { ...deliverable, total: '20', address: null });
    ids.same = await insert(2, { ...deliverable, emirate_code: 'AE-AZ', total: '20.00' });
  });

  test.each<[Sort, string]>([
    ['newest', 'same blocked dear cheap free'],
    ['oldest', 'free cheap dear blocked same'],
    ['total', 'dear same blocked cheap free'],
    ['emirate', 'same dear cheap free blocked'],
    ['severity', 'blocked cheap dear same free'],
  ])('sorted by %s has each order once in its pages', async (sort, names) => {
    expect(await sorted(2, sort)).toEqual(idsOf(names));
  });

  test('by age continues after each of its pages, oldest first', async () => {
    const oldest = await insertOrders(db.knex, 3, 45);
    const seen: number[] = [];
    for (let after: number | null = null; ; ) {
      const page = await listReview(db.database, filterOf(3), { after, limit: 20, first: 'oldest' });
      seen.push(...page.orders.map(({ order_id }) => order_id));
      after = page.next;
      if (after === null) break;
    }
    expect(seen).toEqual(oldest);
  });

  test('of more than 10,000 orders is sorted among the newest, and says so', async () => {
    const cheapest = await insert(4, { total: '1' });
    const dearest = await insert(4, { total: '1000' });
    const rest = await insertOrders(db.knex, 4, 9_999);
    const read = () => listSorted(db.database, filterOf(4), { sort: 'total', after: null, limit: 1, similar: false });
    const first = await read();
    expect([first.orders[0]?.order_id, first.sortedNewest]).toEqual([dearest, 10_000]);
    const ids = await listMatchingIds(db.database, filterOf(4), false);
    expect([ids.orderIds.length, ids.orderIds.includes(cheapest), ids.capped]).toEqual([10_000, false, true]);
    await db.knex('orders').where({ order_id: rest[0] }).delete();
    expect((await read()).sortedNewest).toBeNull();
  });
});

describe('a likely duplicate', () => {
  const HOUR = 3_600_000;
  const now = Date.now();
  const order = (account: number, phone: string, total: string | null, hours: number, more = {}) =>
    insert(account, { customer_phone: phone, total, received_at: new Date(now - hours * HOUR), ...more });

  test('has the same phone, a similar total and was received within a day', async () => {
    const [aisha, john, omar] = ['+971501111111', '+971502222222', '+971503333333'];
    const first = await order(5, aisha, '100', 5);
    const similar = await order(5, aisha, '91', 3);
    const cheap = await order(5, aisha, '50', 2);
    const unknown = await order(5, john, null, 28);
    const dayLater = await order(5, john, '7', 5);
    const tooLate = await order(5, john, '7', -25);
    const noPhone = [await order(5, 'call me', '7', 1), await order(5, 'call me', '7', 1)];
    const confirmed = await order(5, omar, '70', 9, { review_state: 'confirmed' });
    const again = await order(5, omar, '70', 8);
    const { orders } = await listReview(db.database, filterOf(5), { limit: 50 });
    const marked = await markListed(db.database, 5, orders);
    const duplicates = [again, unknown, dayLater, similar, first].toSorted((a, b) => b - a);
    expect(marked.filter((listed) => listed.similar).map(({ order_id }) => order_id)).toEqual(duplicates);
    expect(await sorted(5, 'newest', { similar: true })).toEqual(duplicates);
    expect((await listMatchingIds(db.database, filterOf(5), true)).orderIds).toEqual(duplicates);
    for (const id of [cheap, tooLate, ...noPhone, confirmed]) expect(duplicates).not.toContain(id);
  });
});
