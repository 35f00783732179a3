import type pg from 'pg';
import type { CancellationLedger } from './cancellation-ledger.ts';
import type { Dispatcher } from './dispatcher.ts';

/**
 * A query per violation, see `verify.ts`. The table `cancellations` contains every cancelled `source_order_id` with the latest outcome,
 * which is null if no request was answered; `read_requests` contains what the dispatching system read up to `request_cursor`.
 */
export const CANCELLATION_RULES = {
  'cancellation-lost': `
    select c.account_id || ' ' || c.source_order_id as id, concat_ws(' ', c.order_id, 'now', o.review_state) as detail
    from cancellations c
    left join orders o on o.account_id = c.account_id and o.source_order_id = c.source_order_id and o.order_id = c.order_id
    where c.outcome = 'cancelled'
      and (o.review_state is distinct from 'cancelled' or exists (select from dispatched d where d.order_id = c.order_id))`,
  // Only the receipt of the order itself is written; others are its duplicates.
  'held-cancellation-lost': `
    select c.account_id || ' ' || c.source_order_id as id, concat_ws(' ', o.order_id, o.review_state, r.state) as detail
    from cancellations c
    left join receipts r on r.account_id = c.account_id and r.source_order_id = c.source_order_id and r.state = 'written'
    left join orders o on o.account_id = c.account_id and o.source_order_id = c.source_order_id
    where c.outcome = 'held'
      and o.review_state is distinct from case when r.state = 'written' then 'cancelled' else 'cancellation_held' end`,
  'request-missing': `
    select c.order_id::text as id, concat_ws(' ', c.account_id, c.source_order_id, o.review_state) as detail
    from cancellations c
    left join orders o on o.account_id = c.account_id and o.source_order_id = c.source_order_id and o.order_id = c.order_id
    where c.outcome = 'requested'
      and (o.review_state not in ('confirmed', 'cancelled') is not false
           or not exists (
             select from cancellation_requests q where q.account_id = c.account_id and q.order_id = c.order_id))`,
  'request-missed': `
    select q.order_id::text as id, concat_ws(' ', q.request_xid, q.requested_at) as detail
    from cancellation_requests q, request_cursor c
    where (q.request_xid, q.order_id) <= (c.xid, c.order_id)
      and not exists (select from read_requests d where d.order_id = q.order_id)`,
  'request-before-order': `
    select order_id::text as id, '' as detail from read_requests where is_before_order`,
  'cancelled-by-nobody': `
    select o.order_id::text as id, concat_ws(' ', o.account_id, o.source_order_id, o.review_state) as detail
    from orders o left join cancellation_requests q using (account_id, order_id)
    where (o.review_state in ('cancelled', 'cancellation_held') or q.order_id is not null)
      and not exists (
        select from cancellations c where c.account_id = o.account_id and c.source_order_id = o.source_order_id)`,
};

/** Copies the replies to cancellations, and the requests that were read, to temporary tables of the current transaction. */
export async function copyCancellations(
  client: pg.Client,
  cancellations: CancellationLedger,
  { requestCursor: cursor, readRequests }: Dispatcher,
): Promise<void> {
  // The cursor and the requests up to it, from the same moment.
  const requests = [...readRequests];
  await client.query('create temp table request_cursor (xid xid8, order_id bigint) on commit drop');
  await client.query('insert into request_cursor values ($1::text::xid8, $2)', [cursor.xid, cursor.orderId]);
  await client.query('create temp table read_requests (order_id bigint, is_before_order boolean) on commit drop');
  await client.query('insert into read_requests select * from unnest($1::bigint[], $2::boolean[])', [
    requests.map(([orderId]) => orderId),
    requests.map(([, { isBeforeOrder }]) => isBeforeOrder),
  ]);
  const entries = cancellations.entries();
  await client.query(`create temp table cancellations (
    account_id int, source_order_id text collate "C", outcome text, order_id bigint
  ) on commit drop`);
  await client.query(
    'insert into cancellations select * from unnest($1::int[], $2::text[], $3::text[], $4::bigint[])',
    [
      entries.map(({ sender }) => sender.accountId),
      entries.map(({ sourceOrderId }) => sourceOrderId),
      entries.map(({ reply }) => reply?.outcome ?? null),
      entries.map(({ reply }) => reply?.orderId ?? null),
    ],
  );
  await client.query('analyze read_requests, cancellations');
}
