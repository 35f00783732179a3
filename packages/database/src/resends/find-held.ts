import type { Knex } from 'knex';

/**
 * Returns the orders that cannot be confirmed yet, because the account holds orders with changed resends and the newest such resend has no
 * decision. Must be called with the orders locked, so that no decision is made meanwhile; a concurrent resend counts from its commit on.
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
