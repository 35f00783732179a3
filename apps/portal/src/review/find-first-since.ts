import type { Database } from '@orders/database/connect.ts';
import { run, type Statement } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';

const firstSince = (state: ReviewState): Statement => {
  const inList = `orders where account_id = $1::int and review_state = '${state}'`;
  return {
    name: `first-order-since-${state}`,
    // Binary search over ids, at most 63 steps: written_at has no index but grows with the id. With min(order_id), a plan made for an empty
    // table would read all orders.
    text: `
with recursive halves(low, high) as (
  select (select order_id from ${inList} order by order_id limit 1),
         (select order_id + 1 from ${inList} order by order_id desc limit 1)
  union all
  select case when middle.written_at < $2::timestamptz then middle.order_id + 1 else low end,
         case when middle.written_at < $2::timestamptz then high else (low + high) / 2 end
  from halves
  left join lateral (
    select order_id, written_at from ${inList} and order_id >= (low + high) / 2
    order by order_id limit 1
  ) as middle on true
  where low < high
)
select low as order_id from halves where low = high`,
  };
};

/**
 * Finds a bound in an account's list: orders with a lower id were written before `since`, the others at `since` or later. Concurrent writes
 * can be on the wrong side of it. Null if the list is empty.
 */
export async function findFirstSince(
  database: Database,
  { accountId, state, since }: { accountId: number; state: ReviewState; since: Date },
): Promise<number | null> {
  const [first] = await run<{ order_id: number }>(database, firstSince(state), [accountId, since]);
  return first?.order_id ?? null;
}
