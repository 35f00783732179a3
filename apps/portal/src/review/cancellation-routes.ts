import { recordAudit } from '@orders/database/audit.ts';
import { statesOf } from '@orders/database/orders/review-orders.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';
import { orderIds } from './read-filter.ts';

/** Ids of the orders whose request was closed or opened again, and of the others: somebody was faster, or they have none. */
export interface RequestsOutcome {
  changed: number[];
  unchanged: number[];
}

/**
 * `POST /orders/cancellations/close`: the deliveries of orders that their sender wants to cancel were dealt with. `…/reopen` brings the
 * requests back that a person has closed: anybody who reviews may do it, at any time, as it only makes a task of them again.
 */
export function cancellationRoutes({ database, runShort }: PortalDeps): Router {
  const router = Router();
  for (const to of ['close', 'reopen'] as const)
    router.post(`/orders/cancellations/${to}`, async (request, response) => {
      const { order_ids } = bodyOf<{ order_ids: number[] }>(request, { order_ids: orderIds });
      const change = { accountId: accountIdOf(request), orderIds: order_ids, by: personOf(request).email, to };
      const outcome = await runShort(request, () => changeRequests(database, change));
      if (!outcome) throw new Problem('order_not_found');
      response.json(outcome);
    });
  return router;
}

const ACTIONS = { close: 'cancel_request_closed', reopen: 'cancel_request_reopened' } as const;

/**
 * Closes the open cancellation requests of orders, or opens closed ones again, with audit, in one transaction. Repeating it changes nothing.
 *
 * @param request.by the e-mail address of the person.
 * @returns null when the account does not have all of these orders; then nothing changed.
 */
async function changeRequests(
  connection: Connection,
  request: { accountId: number; orderIds: readonly number[]; by: string; to: keyof typeof ACTIONS },
): Promise<RequestsOutcome | null> {
  const { accountId, by, to } = request;
  const ids = [...new Set(request.orderIds)];
  return inTransaction(connection, async (transaction) => {
    if ((await statesOf(transaction, accountId, ids)).length < ids.length) return null;
    // In id order, so that concurrent calls do not deadlock. A call that waited finds the request changed and leaves it.
    const rows = await run<{ order_id: number }>(
      transaction,
      `with found as materialized (
         select order_id from cancellation_requests
         where account_id = $1 and order_id = any($2::bigint[]) and (closed_at is null) = ($3::text is not null)
         order by order_id for update
       )
       update cancellation_requests r
       set closed_at = case when $3::text is not null then clock_timestamp() end, closed_by = $3::text
       from found where r.account_id = $1 and r.order_id = found.order_id
       returning r.order_id`,
      [accountId, ids, to === 'close' ? by : null],
    );
    const changed = rows.map(({ order_id }) => order_id).toSorted((a, b) => a - b);
    const events = changed.map((id) => ({ accountId, actor: by, action: ACTIONS[to], subject: `order:${id}` }));
    await recordAudit(transaction, ...events);
    return { changed, unchanged: ids.filter((id) => !changed.includes(id)) };
  });
}
