import type { Knex } from 'knex';
import { recordAudit } from '@orders/database/audit.ts';
import { hasOrders } from './read-exported.ts';

export interface ClosedRequests {
  /** Ids of the orders whose requests were closed. */
  closed: number[];
  /** Ids of the other orders: their request was closed before, or they have none. */
  unchanged: number[];
}

/**
 * Closes the open cancellation requests of orders, with audit, in one transaction. Repeating it changes nothing.
 *
 * @param request.by the e-mail address of the person who has dealt with them.
 * @returns null when the account does not have all of these orders; then nothing changed.
 */
export async function closeRequests(
  db: Knex,
  { accountId, orderIds, by }: { accountId: number; orderIds: readonly number[]; by: string },
): Promise<ClosedRequests | null> {
  const ids = [...new Set(orderIds)];
  return db.transaction(async (trx) => {
    if (!(await hasOrders(trx, accountId, ids))) return null;
    // In id order, so that concurrent calls do not deadlock. A call that waited finds the request closed and leaves it.
    const { rows } = await trx.raw<{ rows: { order_id: number }[] }>(
      `with open as materialized (
         select order_id from cancellation_requests
         where account_id = :accountId and order_id = any(:ids::bigint[]) and closed_at is null
         order by order_id for update
       )
       update cancellation_requests r set closed_at = clock_timestamp(), closed_by = :by
       from open where r.account_id = :accountId and r.order_id = open.order_id
       returning r.order_id`,
      { accountId, ids, by },
    );
    const closed = rows.map(({ order_id }) => order_id).toSorted((a, b) => a - b);
    await recordAudit(
      trx,
      ...closed.map((id) => ({ accountId, actor: by, action: 'cancel_request_closed', subject: `order:${id}` })),
    );
    return { closed, unchanged: ids.filter((id) => !closed.includes(id)) };
  });
}
