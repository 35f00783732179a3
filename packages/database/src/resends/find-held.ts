import type { Knex } from 'knex';

/**
 * Which of these orders may not be confirmed yet: the account holds what is sent again with other content, and of the newest such resend
 * nobody has decided. Asked under the lock on the orders, it holds for those who decide; a resend that is just being written counts from
 * its commit on.
 */
export async function findHeld(
  trx: Knex.Transaction,
  accountId: number,
  orderIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await trx.raw<{ rows: { order_id: number }[] }>(
    `select wanted.order_id from unnest(:orderIds::bigint[]) as wanted(order_id)
     cross join lateral (
       select decision from resends
       where account_id = :accountId and order_id = wanted.order_id and changes is not null
       order by received_at desc, receipt_id desc limit 1
     ) as newest
     where newest.decision is null and exists (select from accounts where account_id = :accountId and hold_resends)`,
    { accountId, orderIds: [...orderIds] },
  );
  return new Set(rows.map(({ order_id }) => order_id));
}
