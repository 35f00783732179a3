import type { ReceiptState } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { timeOf } from './partitions.ts';

/** The newest receipt that an account has for a `source_order_id`. */
export interface SeenReceipt {
  receipt_id: string;
  state: ReceiptState;
  /** The order that exists for this `source_order_id`, whichever receipt made it. */
  order_id: number | null;
  /** By Postgres' clock; once the receipt's retention is over, by the one that made its id. */
  received_at: Date;
}

type SeenRow = Omit<SeenReceipt, 'received_at'> & { source_order_id: string; received_at: Date | null };
/** Stands for none of them, and says that not all was looked at. */
type TooMany = { source_order_id: null };

/** Ids in the account's outbox rows, up to which they are looked up: half a second of Postgres' work. */
const MAX_PROMISED = 500_000;

/** The account has too many receipts pending to look through. */
export class BacklogTooLong extends Error {}

const RECONCILE = {
  name: 'reconcile-receipts',
  // An outbox row names at least the accounts of its receipts, and none where the version before wrote it. `is true` keeps a condition
  // from becoming a join: it is then a look into a hash table for each row, whatever number of rows was planned for. What has `offset 0` stays a look-up by key for each id, for the same reason. The bounds beside the list of promised ids leave out
  // the partitions that hold none of them.
  text: `
with asked as materialized (
  select source_order_id from unnest($2::text[]) as asked(source_order_id)
), promised as materialized (
  select array_agg(id order by id) as ids from (
    select id from outbox cross join lateral unnest(receipt_ids) as id
    where account_ids && array[$1::int] or account_ids = '{}'
    limit ${MAX_PROMISED + 1}
  ) as bounded
), whole as materialized (
  select case when cardinality(ids) <= ${MAX_PROMISED} then ids end as ids from promised
), ordered as materialized (
  select asked.source_order_id, o.order_id, o.receipt_id, o.received_at
  from asked cross join lateral (
    select order_id, receipt_id, received_at from orders
    where account_id = $1::int and source_order_id = asked.source_order_id
    offset 0
  ) as o
), seen as (
  select source_order_id, order_id, receipt_id, 'written' as state, received_at from ordered
  union all
  select ordered.source_order_id, ordered.order_id, resend.receipt_id, 'duplicate', null
  from ordered cross join lateral (
    select receipt_id from resends
    where account_id = $1::int and order_id = ordered.order_id order by receipt_id desc limit 1
  ) as resend
  union all
  select source_order_id, null, receipt_id, 'dead', null from dead_letters
  where account_id = $1::int and (source_order_id in (select source_order_id from asked)) is true
  union all
  select source_order_id, null, receipt_id, state, received_at from receipts
  where receipt_id = any((select ids from whole)::uuid[]) and account_id = $1::int
    and receipt_id between (select ids[1] from whole) and (select ids[cardinality(ids)] from whole)
    and (source_order_id in (select source_order_id from asked)) is true
), newest as (
  select distinct on (source_order_id) source_order_id, receipt_id, state, received_at,
         max(order_id) over (partition by source_order_id) as order_id
  from seen order by source_order_id, receipt_id desc, received_at
)
select newest.source_order_id, newest.receipt_id, newest.state, newest.order_id,
       coalesce(newest.received_at, r.received_at) as received_at
from newest left join lateral (
  select received_at from receipts
  where newest.received_at is null and receipt_id = newest.receipt_id and account_id = $1::int
  offset 0
) as r on true
union all
select null, null, 'too many', null, null from promised where cardinality(ids) > ${MAX_PROMISED}`,
};

/**
 * Finds the newest receipt of each of the account's `source_order_id`s, at a cost that grows with what is pending and dead of this account
 * and with what is asked, and neither with what is stored nor with the backlog of others. Of these only the ids are looked up that came
 * in the same outbox row, up to 500 in each. An id that is missing from the answer was never accepted, as of one
 * snapshot: a receipt is `written`, and then its order is found; or `duplicate`, and then there is an order too; or `dead`, and then among
 * `dead_letters`, by a trigger in the same transaction; or it is not final, and then its id is in the outbox.
 *
 * That last holds in every snapshot. `recordReceipts` and `redriveReceipts`, the only ones to make a receipt pending, promise in the
 * same transaction. `writeOrders` deletes a promise together with moving each of its receipts to a final state, and `settleBatch` strikes
 * off what its own snapshot shows as final; both change only promises that they see there. A receipt that was redriven since has another
 * promise, which they do not see. Retention drops a week only when all in it is final, and what died in it is then forgotten.
 *
 * @param sourceOrderIds each once.
 * @returns by `source_order_id`.
 * @throws {BacklogTooLong} beyond `MAX_PROMISED`; {pg.DatabaseError} or the connection's error.
 */
export async function reconcileReceipts(
  database: Database,
  accountId: number,
  sourceOrderIds: readonly string[],
): Promise<Map<string, SeenReceipt>> {
  const rows = await run<SeenRow | TooMany>(database, RECONCILE, [accountId, sourceOrderIds]);
  if (rows.some(({ source_order_id }) => source_order_id === null)) throw new BacklogTooLong();
  return new Map(
    (rows as SeenRow[]).map(({ source_order_id, received_at, ...seen }) => [
      source_order_id,
      { ...seen, received_at: received_at ?? new Date(timeOf(seen.receipt_id)) },
    ]),
  );
}
