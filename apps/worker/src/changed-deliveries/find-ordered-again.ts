import { orderRow } from '@orders/database/orders/order-rows.ts';
import { RAW_DELIVERY } from '@orders/database/receipts/find-receipt.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { modifiedAt } from '@orders/domain/sources/read-delivery.ts';
import type { DuplicateOrder } from './find-changes.ts';

const FIND = {
  name: 'find-ordered-again',
  text: `
select i.receipt_id as "receiptId", o.platform_cancelled_at as "cancelledAt", s.settings -> 'modifiedAt' as "from",
       case when o.platform_cancelled_at is not null and s.settings -> 'modifiedAt' is not null then ${RAW_DELIVERY} end as raw
from unnest($1::uuid[], $2::int[], $3::bigint[]) as i(receipt_id, account_id, order_id)
cross join lateral (
  select * from receipts x
  where x.receipt_id = i.receipt_id and x.account_id = i.account_id and x.source_number is not null offset 0
) as r
cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
cross join lateral (
  select settings from sources where account_id = r.account_id and source_number = r.source_number offset 0
) as s
left join lateral (
  select requested_at from cancellation_requests
  where account_id = o.account_id and order_id = o.order_id and requested_by like 'source:%' and ordered_again_at is null offset 0
) as c on true
where o.erased_at is null and o.receipt_id <> i.receipt_id
  and case o.review_state when 'cancelled' then o.reviewed_by like 'source:%' and o.reviewed_at < r.received_at
                          when 'confirmed' then c.requested_at < r.received_at else false end`,
};

interface Row {
  receiptId: string;
  cancelledAt: Date | null;
  from: { pointer: string } | null;
  raw: Buffer | null;
}

/**
 * Finds deliveries of orders that their platform had cancelled before. One that is older than the cancellation, or as old, by the platform's
 * own clock is a late one and not among them; without both times, the order of arrival decides.
 */
export async function findOrderedAgain(
  connection: Connection,
  duplicates: readonly DuplicateOrder[],
): Promise<Set<string>> {
  const rows = await run<Row>(connection, FIND, [
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
  ]);
  const isLate = ({ cancelledAt, from, raw }: Row) => {
    const sentAt = raw && from && modifiedAt(raw, from);
    return cancelledAt !== null && sentAt !== null && sentAt <= cancelledAt;
  };
  return new Set(rows.filter((row) => !isLate(row)).map(({ receiptId }) => receiptId));
}

const REOPEN = { name: 'reopen-ordered-again', text: 'select reopen_ordered_again($1::int, $2::bigint)' };

/** Reopens an order that was ordered again: it needs review, or the request to cancel it is open again. Its order must be locked. */
export async function reopenOrderedAgain(
  connection: Connection,
  { accountId, orderId }: DuplicateOrder,
): Promise<void> {
  await run(connection, REOPEN, [accountId, orderId]);
}
