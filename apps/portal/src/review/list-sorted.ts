import type { Database } from '@orders/database/connect.ts';
import {
  LISTED_COLUMNS,
  type ListedOrder,
  type ListedRow,
  orderRow,
  toListed,
} from '@orders/database/orders/order-rows.ts';
import { run, type Statement } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { SEVERITIES } from '@orders/domain/severity.ts';
import { RECENT_WITH_SIMILAR } from './find-similar.ts';
import { spanOf } from './list-review.ts';
import { inState, MATCHES, parametersOf, prepareFilter, type ReviewFilter } from './review-filter.ts';

/** The newest orders of a list that are sorted or searched for likely duplicates; it takes some milliseconds. */
export const MAX_SORTED = 10_000;

export const SORTS = ['newest', 'oldest', 'total', 'emirate', 'severity'] as const;
export type Sort = (typeof SORTS)[number];

/** The place of an order in a sorted list: its key as text, and its id. */
export interface SortedPlace {
  key: string;
  orderId: number;
}

/** A page of a list sorted otherwise than by age, or of likely duplicates. */
export interface SortedPage {
  orders: ListedOrder[];
  /** The place of each order. */
  places: SortedPlace[];
  hasMore: boolean;
  /** `MAX_SORTED` if the list is longer; older orders are left out. */
  sortedNewest: number | null;
}

/** SQL: ascending keys, the type of a key, and its form as text. Orders without a total or an emirate are last. */
const KEYS: Record<Sort, { key: string; type: string; form: RegExp }> = {
  newest: { key: '-o.order_id', type: 'bigint', form: /^-\d{1,16}$/ },
  oldest: { key: 'o.order_id', type: 'bigint', form: /^\d{1,16}$/ },
  total: { key: "coalesce(-o.total, 'Infinity')", type: 'numeric', form: /^(?:-?\d{1,30}(?:\.\d{1,20})?|Infinity)$/ },
  emirate: { key: `coalesce(o.emirate_code, '~') collate "C"`, type: 'text', form: /^(?:AE-[A-Z]{2}|~)$/ },
  severity: { key: `array_position('{${SEVERITIES.join()}}', severity)`, type: 'integer', form: /^\d$/ },
};

/** Whether a cursor's sort key is valid for this sort order. */
export function isSortKey(sort: Sort, key: string): boolean {
  return KEYS[sort].form.test(key);
}

/** `is true` makes Postgres hash the ids; a join would be planned for one order and repeat the subquery for each. */
const IS_SIMILAR = ` and (o.order_id in (${RECENT_WITH_SIMILAR})) is true`;

const top = (state: ReviewState, sort: Sort, similar: boolean): Statement => ({
  name: `top-orders-${sort}-${state}${similar ? '-similar' : ''}`,
  // Keys are computed before the whole rows are read, so that only those of the page are.
  text: `
with keyed as materialized (
  select o.order_id, ${KEYS[sort].key} as key from (
    select * from orders where ${inState(state)} order by order_id desc limit $12::int
  ) as o
  where ${MATCHES}${similar ? IS_SIMILAR : ''}
), top as materialized (
  select order_id, key from keyed
  where $14::bigint is null or (key, -order_id) > ($15::text::${KEYS[sort].type}, -$14::bigint)
  order by key, order_id desc limit $13::int
)
select ${LISTED_COLUMNS}, top.key::text as key
from top cross join lateral (${orderRow('$1::int', 'top.order_id')}) as o
order by top.key, top.order_id desc`,
});

/** The values of the statements for the newest orders that match a filter, and of `more`. */
async function valuesOf(database: Database, filter: ReviewFilter): Promise<{ matching: unknown[]; bounds: unknown[] }> {
  const prepared = await prepareFilter(database, filter);
  const { below, floor } = await spanOf(database, filter);
  return {
    matching: [...parametersOf(prepared, below, floor), MAX_SORTED],
    bounds: [filter.accountId, below, floor, MAX_SORTED],
  };
}

/** Whether a list has more orders than are sorted. */
const more = (state: ReviewState): Statement => ({
  name: `more-than-sorted-${state}`,
  text: `select order_id from orders where ${inState(state)} order by order_id desc offset $4::int limit 1`,
});

/**
 * A page of the list after a place, in the order of a key, then newest first. Only the newest 10,000 orders of the list are considered, so
 * that the cost is bounded.
 *
 * @param options.similar whether only likely duplicates are listed, among the newest 10,000 orders of the account.
 */
export async function listSorted(
  database: Database,
  filter: ReviewFilter,
  { sort, after, limit, similar }: { sort: Sort; after: SortedPlace | null; limit: number; similar: boolean },
): Promise<SortedPage> {
  const { matching, bounds } = await valuesOf(database, filter);
  const rows = await run<ListedRow & { key: string }>(database, top(filter.state, sort, similar), [
    ...matching,
    limit + 1,
    after?.orderId,
    after?.key,
  ]);
  const [rest] = await run(database, more(filter.state), bounds);
  const page = rows.slice(0, limit);
  return {
    orders: page.map(toListed),
    places: page.map(({ key, order_id }) => ({ key, orderId: order_id })),
    hasMore: rows.length > limit,
    sortedNewest: rest ? MAX_SORTED : null,
  };
}

const ids = (state: ReviewState, similar: boolean): Statement => ({
  name: `matching-ids-${state}${similar ? '-similar' : ''}`,
  text: `
select o.order_id, severity = 'blocks' as blocked from (
  select * from orders where ${inState(state)} order by order_id desc limit $12::int
) as o
where ${MATCHES}${similar ? IS_SIMILAR : ''}
order by o.order_id desc`,
});

/** The ids of the orders among the newest 10,000 of a list that match the filter, and of those that cannot be delivered. */
export async function listMatchingIds(
  database: Database,
  filter: ReviewFilter,
  similar: boolean,
): Promise<{ orderIds: number[]; blockedIds: number[]; capped: boolean }> {
  const { matching, bounds } = await valuesOf(database, filter);
  const rows = await run<{ order_id: number; blocked: boolean }>(database, ids(filter.state, similar), matching);
  const [rest] = await run(database, more(filter.state), bounds);
  return {
    orderIds: rows.map(({ order_id }) => order_id),
    blockedIds: rows.filter(({ blocked }) => blocked).map(({ order_id }) => order_id),
    capped: rest !== undefined,
  };
}
