import type { Database } from '@orders/database/connect.ts';
import { timeOf } from '@orders/database/receipts/uuids.ts';
import { run } from '@orders/database/run.ts';
import type { ReceiptState } from '@orders/domain/receipt-states.ts';

/** The newest receipt that an account has for a `source_order_id`. */
export interface NewestReceipt {
  /** Null if only the key of the order is left, as it was archived. */
  receipt_id: string | null;
  state: ReceiptState;
  /** The order that exists for this `source_order_id`, whichever receipt made it. */
  order_id: number | null;
  /** By Postgres' clock; after the receipt was dropped, the time in its id. Null without an id. */
  received_at: Date | null;
}

type SeenRow = NewestReceipt & { source_order_id: string };
/** Marks that the account has more than `MAX_PENDING` ids. */
type TooMany = { source_order_id: null };

/** Max ids in the account's outbox rows; looking them up takes Postgres half a second. */
const MAX_PENDING = 500_000;

/** The account has too many pending receipts. */
export class BacklogTooLong extends Error {}

const RECONCILE = {
  name: 'reconcile-receipts',
  // The plan must not depend on the row counts that Postgres assumes: `is true` makes a condition a hash lookup per row instead of a join,
  // and `offset 0` keeps a subquery a lookup by key. The bounds of the pending ids prune partitions.
  text: `
with asked as materialized (
  select source_order_id from unnest($2::text[]) as asked(source_order_id)
), pending as materialized (
  select array_agg(id order by id) as ids from (
    select id from outbox cross join lateral unnest(receipt_ids) as id
    where account_ids && array[$1::int]
    limit ${MAX_PENDING + 1}
  ) as bounded
), searched as materialized (
  select case when cardinality(ids) <= ${MAX_PENDING} then ids end as ids from pending
), ordered as materialized (
  select asked.source_order_id, k.order_id, o.receipt_id, o.received_at
  from asked
  cross join lateral (
    select order_id from order_keys
    where account_id = $1::int and source_order_id = asked.source_order_id and order_id is not null offset 0
  ) as k
  left join lateral (
    select receipt_id, received_at from orders where account_id = $1::int and order_id = k.order_id offset 0
  ) as o on true
), seen as (
  select source_order_id, order_id, receipt_id, 'written' as state, received_at from ordered
  union all
  select ordered.source_order_id, ordered.order_id, changed_delivery.receipt_id, 'duplicate', null
  from ordered cross join lateral (
    select receipt_id from changed_deliveries
    where account_id = $1::int and order_id = ordered.order_id order by receipt_id desc limit 1
  ) as changed_delivery
  union all
  select source_order_id, null, receipt_id, 'dead', null from dead_letters
  where account_id = $1::int and (source_order_id in (select source_order_id from asked)) is true
  union all
  select source_order_id, null, receipt_id, state, received_at from receipts
  where receipt_id = any((select ids from searched)::uuid[]) and account_id = $1::int
    and receipt_id between (select ids[1] from searched) and (select ids[cardinality(ids)] from searched)
    and (source_order_id in (select source_order_id from asked)) is true
), newest as (
  select distinct on (source_order_id) source_order_id, receipt_id, state, received_at,
         max(order_id) over (partition by source_order_id) as order_id
  from seen order by source_order_id, receipt_id desc nulls last, received_at
)
select newest.source_order_id, newest.receipt_id, newest.state, newest.order_id,
       coalesce(newest.received_at, r.received_at) as received_at
from newest left join lateral (
  select received_at from receipts
  where newest.received_at is null and receipt_id = newest.receipt_id and account_id = $1::int
  offset 0
) as r on true
union all
select null, null, 'too many', null, null from pending where cardinality(ids) > ${MAX_PENDING}`,
};

/**
 * Finds the newest receipt of each of the account's `source_order_id`s. The cost grows with the account's pending and dead receipts and with
 * the number of ids. It does not grow with the stored data or with the backlog of other accounts: of theirs, only ids in the same outbox
 * rows are looked up, up to 500 per row.
 *
 * An id that is missing from the result was never accepted. The statement reads one snapshot, in which it finds each receipt by its state:
 * - `written` or `duplicate`: there is an order, or its key;
 * - `dead`: a trigger has added it to `dead_letters` in the same transaction;
 * - not final: its id is in the outbox.
 *
 * Why the id of a receipt that is not final is in the outbox in every snapshot:
 * - `recordReceipts`, `storeMismatches` and `redriveReceipts` make receipts pending. They insert an outbox row in the same transaction.
 * - `writeOrders` and `writeDuplicates` delete an outbox row in the transaction that makes its last receipts final.
 * - `settleBatch` removes receipts that are final in its snapshot.
 * - The last three change only rows that are in their snapshot. A receipt that is redriven meanwhile has a new row, which is not.
 * - Retention drops a week when all its receipts are final, and deletes their dead letters.
 *
 * @param sourceOrderIds without repetitions.
 * @returns by `source_order_id`.
 * @throws {BacklogTooLong} beyond `MAX_PENDING`; {pg.DatabaseError} or the connection's error.
 */
export async function reconcileReceipts(
  database: Database,
  accountId: number,
  sourceOrderIds: readonly string[],
): Promise<Map<string, NewestReceipt>> {
  const rows = await run<SeenRow | TooMany>(database, RECONCILE, [accountId, sourceOrderIds]);
  if (rows.some(({ source_order_id }) => source_order_id === null)) throw new BacklogTooLong();
  return new Map(
    (rows as SeenRow[]).map(({ source_order_id, received_at, ...seen }) => [
      source_order_id,
      { ...seen, received_at: received_at ?? (seen.receipt_id === null ? null : new Date(timeOf(seen.receipt_id))) },
    ]),
  );
}
