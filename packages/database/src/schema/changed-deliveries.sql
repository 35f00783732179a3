-- What was sent again of an order that existed: each receipt that ended as `duplicate`, and its differences. Not part of the receipt, so
-- that writing a new order costs nothing for it. See docs/decisions/duplicates-and-changed-deliveries.md.
create table changed_deliveries (
  account_id  integer not null,
  order_id    bigint not null,
  receipt_id  uuid not null,
  -- The receipt's, by the clock of Postgres.
  received_at timestamptz not null default now(),
  -- The receipt's, by the platform's clock.
  modified_at timestamptz,
  -- Orders the versions of an order.
  version_at  timestamptz not null generated always as (coalesce(modified_at, received_at)) stored,
  -- A newer version, by the platform's clock, was received before it, or after it without a decision in between.
  is_outdated boolean not null default false,
  -- For reviewers' pages, which ask for those of the last seconds; received_at can be long before.
  stored_at   timestamptz not null default clock_timestamp(),
  -- The differences from the order as first sent, [{ pointer, from, to }] in normalized values, without those that are too long; null if
  -- there are none.
  changes     jsonb,
  decision    text check (decision in ('accepted', 'refused')),
  decided_by  text,
  decided_at  timestamptz,
  primary key (account_id, order_id, receipt_id)
);
-- Most changed deliveries have no changes, and an order may have thousands.
create index changed_deliveries_by_version on changed_deliveries (account_id, order_id, version_at, receipt_id) where changes is not null;
-- In words that no comparison implies, so that it never takes the place of changed_deliveries_waiting, which costs as much on paper.
create index changed_deliveries_by_platform_time on changed_deliveries (account_id, order_id, modified_at, receipt_id)
  where (modified_at is null) is false;
create index changed_deliveries_accepted on changed_deliveries (account_id, order_id, version_at, receipt_id)
  where changes is not null and decision = 'accepted';
create index changed_deliveries_waiting on changed_deliveries (account_id, order_id, modified_at)
  where changes is not null and decision is null and not is_outdated;
create index changed_deliveries_by_stored_at on changed_deliveries (account_id, stored_at) where changes is not null;

-- When its platform last changed or cancelled an order, as far as its deliveries say it; null if none does.
create function platform_version(of_account integer, of_order bigint) returns timestamptz language sql stable as $$
  select greatest(
    (select greatest(o.platform_modified_at, o.platform_cancelled_at) from orders o where o.account_id = of_account and o.order_id = of_order),
    (select max(d.modified_at) from changed_deliveries d where d.account_id = of_account and d.order_id = of_order
       and (d.modified_at is null) is false));
$$;

-- Sets the payment of an order to what its platform says, with the severity and the warnings that follow. Returns the source as an actor. Called
-- under the lock of the order.
create function apply_payment_state(for_account integer, of_order bigint, by_source integer, state text, new_severity text, new_warnings jsonb)
returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  actor text := (select 'source:' || name from sources where account_id = for_account and source_number = by_source);
  was text := (select payment_state from orders where account_id = for_account and order_id = of_order);
begin
  if was is not distinct from state then return actor; end if;
  update orders set payment_state = state, severity = new_severity, warnings = new_warnings
  where account_id = for_account and order_id = of_order;
  perform update_order_words(for_account, of_order);
  insert into audit_events (account_id, at, actor, action, subject, details)
  values (for_account, clock_timestamp(), actor, 'order_edited', 'order:' || of_order,
          jsonb_build_object('changes', jsonb_build_array(jsonb_build_object('pointer', '/payment_state', 'before', was, 'after', state))));
  return actor;
end
$$;
revoke all on function apply_payment_state(integer, bigint, integer, text, text, jsonb) from public;

-- An order that waited until it is paid needs review. Called under the lock of the order.
create function review_paid_order(for_account integer, of_order bigint, by_source integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  actor text := (select 'source:' || name from sources where account_id = for_account and source_number = by_source);
begin
  update orders set review_state = 'needs_review', reviewed_by = actor, reviewed_at = clock_timestamp()
  where account_id = for_account and order_id = of_order and review_state = 'awaiting_payment';
  if not found then return; end if;
  perform update_order_words(for_account, of_order);
  insert into audit_events (account_id, at, actor, action, subject, details)
  values (for_account, clock_timestamp(), actor, 'order_reopened', 'order:' || of_order, '{"paid": true}');
end
$$;
revoke all on function review_paid_order(integer, bigint, integer) from public;
