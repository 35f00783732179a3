import type { Database } from '@orders/database/connect.ts';
import { type ListedOrder, orderRow } from '@orders/database/orders/order-rows.ts';
import { run } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { isReachable, REACHABLE_PHONE } from '@orders/domain/severity.ts';
import { queryForPhones } from './search-query.ts';

/** SQL expressions for the total of an order and for the time it was received. */
interface Received {
  total: string;
  receivedAt: string;
}

/**
 * SQL: whether two orders from the same phone can be the same order: they were received within a day, and their totals differ by at most a
 * tenth of the higher one, or one of them is unknown.
 */
const isSimilar = (a: Received, b: Received) => `(
  ${b.receivedAt} between ${a.receivedAt} - interval '1 day' and ${a.receivedAt} + interval '1 day'
  and (${a.total} is null or ${b.total} is null or abs(${a.total} - ${b.total}) <= 0.1 * greatest(${a.total}, ${b.total})))`;

const received = (alias: string): Received => ({ total: `${alias}.total`, receivedAt: `${alias}.received_at` });

/** Max newest orders of an account that are compared with each other. */
const MAX_RECENT = 10_000;
/** Each order is compared with this many before it and after it from the same phone, as one phone may have thousands. */
const NEIGHBORS = 3;

const neighbors = ['lag', 'lead'].flatMap((direction) =>
  Array.from({ length: NEIGHBORS }, (_, index): Received => {
    const neighbor = (column: string) => `${direction}(${column}, ${index + 1}) over same_phone`;
    return { total: neighbor('total'), receivedAt: neighbor('received_at') };
  }),
);

/** SQL: the ids of the newest orders of account $1 that have a likely duplicate among them. */
export const RECENT_WITH_SIMILAR = `
select order_id from (
  select order_id, ${neighbors.map((neighbor) => isSimilar({ total: 'total', receivedAt: 'received_at' }, neighbor)).join(' or ')} as is_similar
  from (
    select order_id, customer_phone, total, received_at from orders
    where account_id = $1::int order by order_id desc limit ${MAX_RECENT}
  ) as newest
  where customer_phone ~ '${REACHABLE_PHONE}'
  window same_phone as (partition by customer_phone order by received_at, order_id)
) as recent
where is_similar`;

/** An order that is likely a duplicate of another one. */
export interface SimilarOrder {
  order_id: number;
  order_number: string;
  customer_name: string | null;
  total: string | null;
  currency: string | null;
  review_state: ReviewState;
  received_at: Date;
}

type Compared = Pick<ListedOrder, 'order_id' | 'customer' | 'total' | 'received_at'>;

/** Max orders with one of the phone numbers in the search index. */
const MAX_HITS = 500;
/** Orders of any state that are compared: this many up to the newest of a page, and as many after it. */
const MAX_NEAR = 500;
const MAX_SHOWN = 5;

/** SQL: orders of account $1 on one side of an id; at most $8, a parameter, as the planner expects few then. */
const near = (side: string, direction: string) => `(
  select order_id, customer_phone, total, received_at from orders
  where account_id = $1::int and order_id ${side} order by order_id ${direction} limit $8::int)`;

/** SQL: `page` and `others`, in which duplicates are looked for. Orders that need no review or are a minute old have no search terms. */
const PAGE_AND_OTHERS = `
page as materialized (
  select * from unnest($2::bigint[], $3::text[], $4::numeric[], $5::timestamptz[]) as p(order_id, phone, total, received_at)
), hits as materialized (
  select order_id from order_words where words @@ $6::tsquery and account_id + 0 = $1::int limit ${MAX_HITS}
), others as (
  select o.order_id, o.customer_phone, o.total, o.received_at
  from hits cross join lateral (${orderRow('$1::int', 'hits.order_id')}) as o
  union all ${near('<= $7::bigint', 'desc')}
  union all ${near('> $7::bigint', 'asc')}
)`;

const SIMILAR = `
page join others on others.customer_phone = page.phone and others.order_id <> page.order_id
where ${isSimilar(received('page'), received('others'))}`;

function parametersFor(accountId: number, orders: readonly Compared[]): unknown[] {
  const ids = orders.map(({ order_id }) => order_id);
  const phones = orders.map(({ customer }) => customer.phone ?? '');
  return [
    accountId,
    ids,
    phones,
    orders.map(({ total }) => total),
    orders.map(({ received_at }) => received_at),
    queryForPhones(accountId, phones),
    Math.max(...ids),
    MAX_NEAR,
  ];
}

const FIND_OF_PAGE = {
  name: 'find-similar-of-page',
  text: `with ${PAGE_AND_OTHERS} select distinct page.order_id from ${SIMILAR}`,
};

/** Ids of the orders of a page that have a likely duplicate, which needs review or was written shortly before or after. */
export async function findWithSimilar(
  database: Database,
  accountId: number,
  orders: readonly Compared[],
): Promise<Set<number>> {
  const reachable = orders.filter(({ customer }) => isReachable(customer.phone));
  if (reachable.length === 0) return new Set();
  const rows = await run<{ order_id: number }>(database, FIND_OF_PAGE, parametersFor(accountId, reachable));
  return new Set(rows.map(({ order_id }) => order_id));
}

const FIND_OF_ORDER = {
  name: 'find-similar-of-order',
  text: `
with ${PAGE_AND_OTHERS}, similar_ids as materialized (
  select distinct others.order_id from ${SIMILAR} order by others.order_id desc limit ${MAX_SHOWN}
)
select o.order_id, o.order_number, o.customer_name, o.total, o.currency, o.review_state, o.received_at
from similar_ids cross join lateral (${orderRow('$1::int', 'similar_ids.order_id')}) as o
order by o.order_id desc`,
};

/** At most five likely duplicates of an order, newest first. */
export async function findSimilar(database: Database, accountId: number, order: Compared): Promise<SimilarOrder[]> {
  if (!isReachable(order.customer.phone)) return [];
  return run<SimilarOrder>(database, FIND_OF_ORDER, parametersFor(accountId, [order]));
}
