import { orderRow } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { DuplicateOrder } from './find-changes.ts';

/** What a delivery of a platform is among the versions of its order. */
export interface Version {
  /** The platform had changed or cancelled the order later, by its own clock, in a delivery that came before. */
  isOutdated: boolean;
  /** The platform cancelled the order before, and now wants it. */
  isOrderedAgain: boolean;
  /** The platform is done with an order about which nobody has decided. */
  isFinished: boolean;
  /** The order waited until it is paid, and no longer does. */
  isPaid: boolean;
  /** It is ordered again, and waits until it is paid. */
  isUnpaid: boolean;
  /** The version before it says another payment than the last accepted one. */
  followsOtherPayment: boolean;
  sourceNumber: number;
}

const FIND = {
  name: 'find-versions',
  // A delivery that wants a cancelled order is newer by the clock of the platform; without both times, the order of arrival decides.
  text: `
select "receiptId", coalesce(modified_at < newest, false) as "isOutdated",
       wanted and is_newer and (modified_at < newest) is not true as "isOrderedAgain",
       finished and review_state in ('needs_review', 'awaiting_payment') as "isFinished",
       paid and (modified_at < newest) is not true as "isPaid", unpaid as "isUnpaid", other_payment as "followsOtherPayment",
       source_number as "sourceNumber"
from (
  select i.receipt_id as "receiptId", r.modified_at, r.source_number, o.review_state, o.erased_at,
         greatest(platform_version(i.account_id, i.order_id), max(r.modified_at) over (
           partition by i.account_id, i.order_id order by r.received_at, i.receipt_id rows between unbounded preceding and 1 preceding
         )) as newest,
         r.delivery_kind is distinct from 'finished' as wanted, coalesce(r.delivery_kind = 'finished', false) as finished,
         coalesce(o.review_state = 'awaiting_payment' and r.delivery_kind in ('order', 'test'), false) as paid,
         coalesce(r.delivery_kind = 'unpaid', false) as unpaid,
         case when o.review_state = 'cancelled' and o.reviewed_by like 'source:%'
                then coalesce(r.modified_at > o.platform_cancelled_at, o.reviewed_at < r.received_at)
              when o.review_state = 'confirmed' and c.requested_at is not null
                then coalesce(r.modified_at > o.platform_cancelled_at, c.requested_at < r.received_at)
              else false end as is_newer,
         coalesce(before.changes @> '[{"pointer": "/payment_state"}]' and before.decision is distinct from 'accepted', false) as other_payment
  from unnest($1::uuid[], $2::int[], $3::bigint[]) as i(receipt_id, account_id, order_id)
  cross join lateral (
    select modified_at, received_at, delivery_kind, source_number from receipts x
    where x.receipt_id = i.receipt_id and x.account_id = i.account_id and x.source_number is not null offset 0
  ) as r
  cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
  left join lateral (
    select requested_at from cancellation_requests
    where account_id = o.account_id and order_id = o.order_id and requested_by like 'source:%' and ordered_again_at is null offset 0
  ) as c on true
  left join lateral (
    select changes, decision from changed_deliveries
    where account_id = i.account_id and order_id = i.order_id and (modified_at is null) is false
    order by modified_at desc, receipt_id desc limit 1
  ) as before on true
  where o.receipt_id <> i.receipt_id
) as versions
-- Also an order whose customer was erased does not wait for what was paid.
where paid or (erased_at is null and (modified_at is not null or (wanted and is_newer) or finished))`,
};

/** @returns the versions of those duplicates that platforms sent, without those that say no time and mean nothing beside their content. */
export async function findVersions(
  connection: Connection,
  duplicates: readonly DuplicateOrder[],
): Promise<Map<string, Version>> {
  const rows = await run<Version & { receiptId: string }>(connection, FIND, [
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
  ]);
  return new Map(rows.map(({ receiptId, ...version }) => [receiptId, version]));
}
