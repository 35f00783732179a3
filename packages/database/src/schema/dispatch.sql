-- What dispatching systems read. See docs/decisions/dispatching-and-cancelling.md and docs/dispatch.md.

-- Confirmed orders whose confirmation can be taken back, which deletes the row. Once that time is over, the publisher moves it to
-- dispatch_log. So the row tells whether dispatching can have seen the order, and its lock decides between the two.
create table undispatched_orders (
  account_id integer not null,
  order_id   bigint not null,
  due_at     timestamptz not null default clock_timestamp() + interval '10 seconds',
  -- Of a test, the publisher only deletes the row.
  is_test    boolean not null default false,
  primary key (account_id, order_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index undispatched_orders_by_time on undispatched_orders (due_at, order_id);

-- Every order that was dispatched and every request to cancel one, by the position that the publisher gave it. Kept for good.
create table dispatch_log (
  -- Without gaps but for a restore, and never visible before a lower one.
  position        bigint primary key,
  order_id        bigint not null,
  account_id      integer not null,
  is_cancellation boolean not null
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);

create index dispatch_log_cancellations on dispatch_log (position) where is_cancellation;

-- One row. The publisher counts it up in the transaction of what it dispatches.
create table dispatch_counter (
  is_only_row   boolean primary key default true check (is_only_row),
  last_position bigint not null default 0
);
insert into dispatch_counter default values;

-- The lines `label: value` of an order as [{ "label", "value" }]. The label of a line without one is empty.
create function details_as_json(details text) returns jsonb language sql immutable parallel safe
return coalesce(
  (select jsonb_agg(case when line.text ~ '^[^:]+: ' then jsonb_build_object('label', split_part(line.text, ': ', 1),
                                                                            'value', substr(line.text, strpos(line.text, ': ') + 2))
                         else jsonb_build_object('label', '', 'value', line.text) end order by line.number)
   from regexp_split_to_table(details, '\n') with ordinality as line(text, number)), '[]');

-- Readers follow both views by the cursor `position`, and see nothing of test accounts. With offset 0, each order is looked up by its key, in the sequence of the positions;
-- a join of whole tables would read all orders for each poll.
create view dispatchable_orders as
select d.position, o.order_id, o.account_id, o.source_order_id, o.order_number, o.channel, o.receipt_id, o.customer_name,
       o.customer_phone, o.customer_email, o.customer_id, o.address, o.emirate, o.emirate_code, o.area, o.items, o.total, o.currency,
       o.delivery_instructions, o.warnings, o.reviewed_by as confirmed_by, o.reviewed_at as confirmed_at, o.received_at, o.written_at,
       o.payment_state, o.delivery_time, o.delivery_method, details_as_json(o.details) as details,
       (select requested_at from cancellation_requests r where r.account_id = o.account_id and r.order_id = o.order_id)
         as cancellation_requested_at
from dispatch_log d
cross join lateral (select * from orders o where o.account_id = d.account_id and o.order_id = d.order_id offset 0) as o
where not d.is_cancellation and o.review_state = 'confirmed'
  and d.account_id not in (select a.account_id from accounts a where a.test_of is not null);

create view dispatch_cancellations as
select d.position, d.order_id, d.account_id, o.source_order_id, o.order_number, r.reason, r.requested_by, r.requested_at
from dispatch_log d
cross join lateral (
  select * from cancellation_requests r where r.account_id = d.account_id and r.order_id = d.order_id offset 0
) as r
cross join lateral (select * from orders o where o.account_id = d.account_id and o.order_id = d.order_id offset 0) as o
where d.is_cancellation and d.account_id not in (select a.account_id from accounts a where a.test_of is not null);
