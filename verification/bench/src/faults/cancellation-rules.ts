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
    select c.account_id || ' ' || c.source_order_id as id, concat_ws(' ', k.order_id, o.review_state, r.state) as detail
    from cancellations c
    left join receipts r on r.account_id = c.account_id and r.source_order_id = c.source_order_id and r.state = 'written'
    left join order_keys k on k.account_id = c.account_id and k.source_order_id = c.source_order_id
    left join orders o on o.account_id = k.account_id and o.order_id = k.order_id
    where c.outcome = 'held'
      and case when r.state = 'written' then o.review_state is distinct from 'cancelled' else k.held_at is null end`,
  'request-missing': `
    select c.order_id::text as id, concat_ws(' ', c.account_id, c.source_order_id, o.review_state) as detail
    from cancellations c
    left join orders o on o.account_id = c.account_id and o.source_order_id = c.source_order_id and o.order_id = c.order_id
    where c.outcome = 'requested'
      and (o.review_state not in ('confirmed', 'cancelled') is not false
           or not exists (
             select from cancellation_requests q where q.account_id = c.account_id and q.order_id = c.order_id))`,
  'request-missed': `
    select q.order_id::text as id, concat_ws(' ', q.position, q.requested_at) as detail
    from cancellation_requests q, request_cursor c
    where q.position <= c.position
      and not exists (select from read_requests d where d.order_id = q.order_id)`,
  'request-before-order': `
    select d.order_id::text as id, concat_ws(' ', o.account_id, o.source_order_id, o.review_state) as detail
    from read_requests d left join orders o using (order_id)
    where d.is_before_order`,
  'cancelled-by-nobody': `
    select o.order_id::text as id, concat_ws(' ', o.account_id, o.source_order_id, o.review_state) as detail
    from orders o left join cancellation_requests q using (account_id, order_id)
    where (o.review_state = 'cancelled' or q.order_id is not null)
      and not exists (
        select from cancellations c where c.account_id = o.account_id and c.source_order_id = o.source_order_id)
    union all
    select k.source_order_id, concat_ws(' ', k.account_id, 'held by', k.held_by)
    from order_keys k
    where k.order_id is null
      and not exists (
        select from cancellations c where c.account_id = k.account_id and c.source_order_id = k.source_order_id)`,
};
