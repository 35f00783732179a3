/** The name of an account that moves to another installation, see `account-move.ts`; no feed is followed. */
export const MOVED_ACCOUNT = 'Moves';

/** A query per violation, see also `cancellation-rules.ts`. */
const CANCELLATION_EVENT_RULES = {
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

/**
 * The events that orders must have. Each decision in the audit log has one, except that `order.confirmed` belongs to the appearance in
 * `dispatchable_orders`. `is_due` tells whether the event must have been read.
 */
const EXPECTED_OF_ORDERS = `
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
    from (${EXPECTED_OF_ORDERS}) as e group by account_id, order_id, type
  ), told as (
    select account_id, order_id, type, count(*) as count from feed
    where type not like 'receipt.%' group by account_id, order_id, type
  )
  select order_id || ' ' || type as id, concat_ws(' ', 'account', account_id, 'told', t.count, 'expected', e.due, 'to', e.allowed) as detail
  from expected e full join told t using (account_id, order_id, type)`;

const STATES = `
  (values ('receipt.written', 'needs_review'), ('order.reopened', 'needs_review'), ('order.rejected', 'rejected'),
          ('order.confirmed', 'confirmed'), ('order.cancelled', 'cancelled'))`;

/** A query per violation. */
const ORDER_EVENT_RULES = {
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

/** The event that each final receipt of an account with events must have, once. */
const EXPECTED_OF_RECEIPTS = `(
  select r.account_id, 'receipt.' || r.state as type, r.receipt_id, r.source_order_id,
         case when r.state <> 'dead' then o.order_id end as order_id,
         case when r.state = 'duplicate' then o.receipt_id end as duplicate_of
  from receipts r
  join feed_accounts using (account_id)
  left join orders o on o.account_id = r.account_id and o.source_order_id = r.source_order_id
  where r.state in ('written', 'duplicate', 'dead'))`;

const IS_SAME = `
  f.account_id = e.account_id and f.receipt_id = e.receipt_id and f.type = e.type and f.source_order_id = e.source_order_id
  and f.order_id is not distinct from e.order_id and f.duplicate_of is not distinct from e.duplicate_of`;

/**
 * A query per violation. No receipt is redriven in a run, so none is dead twice. A request whose client has given up may
 * be stored after the load; its event is then not yet published, or newer than what was read, which other rules watch.
 */
const RECEIPT_EVENT_RULES = {
  'receipt-event-missing': `
    select e.receipt_id::text as id, concat_ws(' ', e.type, e.account_id, e.source_order_id) as detail
    from ${EXPECTED_OF_RECEIPTS} e
    left join (select account_id, max(sequence) as sequence from feed group by account_id) newest using (account_id)
    where not exists (select from feed f where ${IS_SAME})
      and not exists (select from unpublished_events u where u.receipt_id = e.receipt_id and u.type = e.type)
      and not exists (
        select from events n
        where n.account_id = e.account_id and n.receipt_id = e.receipt_id and n.type = e.type
          and n.sequence > coalesce(newest.sequence, 0))`,
  'receipt-event-unfounded': `
    select f.event_id as id, concat_ws(' ', f.type, f.account_id, f.receipt_id, f.source_order_id, 'time', f.time) as detail
    from (
      select *, row_number() over (partition by account_id, receipt_id, type order by sequence) as time
      from feed where type like 'receipt.%'
    ) as f
    left join ${EXPECTED_OF_RECEIPTS} e on ${IS_SAME}
    where e.receipt_id is null or f.time > 1`,
};

/**
 * A query per violation, see `verify.ts`. The table `feed` contains all events that were read of the accounts in `feed_accounts`. Every
 * event that was due at `published_before` of `feed_state` must be published, and every event of a decision before `decided_before` read.
 */
export const EVENT_RULES = {
  'event-unpublished': `
    select u.event_id::text as id, concat_ws(' ', u.type, u.account_id, u.order_id, 'due', u.due_at) as detail
    from unpublished_events u cross join feed_state s
    where u.due_at < s.published_before`,
  'event-not-enabled': `
    select event_id::text as id, 'account ' || account_id as detail
    from (select account_id, event_id from events union all select account_id, event_id from unpublished_events) as all_events
    where account_id not in (select account_id from feed_accounts)
      and account_id not in (select account_id from accounts where name = '${MOVED_ACCOUNT}')`,
  ...RECEIPT_EVENT_RULES,
  ...ORDER_EVENT_RULES,
  ...CANCELLATION_EVENT_RULES,
};
