/** A query per violation, see `event-rules.ts` and `cancellation-rules.ts`. */
export const CANCELLATION_EVENT_RULES = {
  'cancellation-event-missing': `
    select c.account_id || ' ' || c.source_order_id as id, concat_ws(' ', c.outcome, c.order_id) as detail
    from cancellations c
    join feed_accounts using (account_id)
    cross join feed_state s
    left join orders o on o.account_id = c.account_id and o.source_order_id = c.source_order_id
    where not exists (
        select from feed f
        where f.account_id = c.account_id and f.source_order_id = c.source_order_id and f.order_id = coalesce(c.order_id, o.order_id)
          and f.type = case c.outcome when 'requested' then 'order.cancel_requested' else 'order.cancelled' end)
      and case c.outcome
            when 'cancelled' then true
            when 'held' then o.review_state = 'cancelled'
            when 'requested' then exists (
              select from cancellation_requests q
              where q.account_id = c.account_id and q.order_id = c.order_id and q.requested_at < s.decided_before)
          end`,
  // An order whose undo time ended while it was cancelled has both events, and the reply names the request.
  'cancellation-event-unfounded': `
    select f.event_id as id, concat_ws(' ', f.type, f.account_id, f.source_order_id, 'reply', c.outcome) as detail
    from feed f
    left join cancellations c on c.account_id = f.account_id and c.source_order_id = f.source_order_id
    where f.type in ('order.cancelled', 'order.cancel_requested')
      and (c.account_id is null
           or f.type = 'order.cancel_requested' and c.outcome in ('cancelled', 'held')
           or f.type = 'order.cancelled' and c.outcome = 'requested' and not exists (
             select from feed q
             where q.account_id = f.account_id and q.order_id = f.order_id and q.type = 'order.cancel_requested'))`,
};
