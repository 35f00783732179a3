/**
 * The events that orders must have. Each decision in the audit log has one, except that `order.confirmed` belongs to the appearance in
 * `dispatchable_orders`. `is_due` tells whether the event must have been read.
 */
const EXPECTED = `
  select a.account_id, a.order_id, d.type, a.at < s.decided_before as is_due
  from audit_events a
  join feed_accounts using (account_id)
  join (values
    ('order_rejected', 'order.rejected'), ('order_reopened', 'order.reopened'), ('order_review_undone', 'order.reopened'),
    ('order_edited', 'order.edited'), ('resend_accepted', 'order.edited'),
    ('order_cancelled', 'order.cancelled'), ('order_cancel_requested', 'order.cancel_requested')
  ) as d(action, type) using (action)
  cross join feed_state s
  where a.order_id is not null and not (a.action = 'order_review_undone' and a.details ->> 'was' = 'confirmed')
  union all
  select o.account_id, o.order_id, 'order.confirmed', seen.order_id is not null and o.review_state = 'confirmed' and o.reviewed_at < s.decided_before
  from orders o
  join feed_accounts using (account_id)
  left join dispatched seen using (order_id)
  left join dispatchable_orders shown on shown.account_id = o.account_id and shown.order_id = o.order_id
  cross join feed_state s
  where seen.order_id is not null or shown.order_id is not null`;

const COMPARED = `
  with expected as (
    select account_id, order_id, type, count(*) as allowed, count(*) filter (where is_due) as due
    from (${EXPECTED}) as e group by account_id, order_id, type
  ), told as (
    select account_id, order_id, type, count(*) as count from feed
    where type not like 'receipt.%' group by account_id, order_id, type
  )
  select order_id || ' ' || type as id, concat_ws(' ', 'account', account_id, 'told', t.count, 'expected', e.due, 'to', e.allowed) as detail
  from expected e full join told t using (account_id, order_id, type)`;

const STATES = `
  (values ('receipt.written', 'needs_review'), ('order.reopened', 'needs_review'), ('order.rejected', 'rejected'),
          ('order.confirmed', 'confirmed'), ('order.cancelled', 'cancelled'))`;

/** A query per violation, see `event-rules.ts`. */
export const ORDER_EVENT_RULES = {
  'order-event-missing': `${COMPARED} where coalesce(t.count, 0) < e.due`,
  'order-event-unfounded': `
    (${COMPARED} where t.count > coalesce(e.allowed, 0))
    union all
    select f.event_id, concat_ws(' ', f.type, 'does not name order', f.order_id) from feed f
    where f.type not like 'receipt.%' and not exists (
      select from orders o
      where o.account_id = f.account_id and o.order_id = f.order_id and o.receipt_id = f.receipt_id
        and o.source_order_id = f.source_order_id)`,
  'confirmed-event-early': `
    select event_id as id, concat_ws(' ', account_id, sequence, order_id) as detail from feed where is_early`,
  // A duplicate is told after the receipt that became the order, a decision after both, and a request after the confirmation.
  'event-out-of-order': `
    select order_id::text as id, string_agg(type, ' ' order by sequence) as detail from feed
    where order_id is not null
    group by account_id, order_id
    having (array_agg(type order by sequence))[1] <> 'receipt.written'
       or min(sequence) filter (where type = 'order.cancel_requested') < max(sequence) filter (where type = 'order.confirmed')`,
  'feed-state-differs': `
    select o.order_id::text as id, concat_ws(' ', o.account_id, newest.type, newest.sequence, 'now', o.review_state) as detail
    from (
      select distinct on (account_id, order_id) account_id, order_id, sequence, type, state
      from feed join ${STATES} as s(type, state) using (type)
      order by account_id, order_id, sequence desc
    ) as newest
    join orders o on o.account_id = newest.account_id and o.order_id = newest.order_id
    cross join feed_state s
    where o.review_state <> newest.state
      and not exists (select from audit_events a where a.order_id = o.order_id and a.at >= s.decided_before)`,
};
