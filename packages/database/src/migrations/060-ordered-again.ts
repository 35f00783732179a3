/** Orders that their platform cancelled and then sent again as orders. Decision 026. */
export const name = '060-ordered-again';

export const up = `
-- Set if the platform sent the order again, as one that is wanted, after its request to cancel it.
alter table cancellation_requests add column ordered_again_at timestamptz;

-- cancel_orders for one delivery of a source.
create function cancel_order_of_source(for_account integer, by_source integer, id text, modified_at timestamptz)
returns table (place bigint, outcome text, "orderId" bigint, "shownAt" timestamptz)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
begin
  return query select * from cancel_orders(for_account, null, by_source, 'webhook', array[id], array[null::text]);
  update orders o set platform_cancelled_at = greatest(o.platform_cancelled_at, modified_at)
  where o.account_id = for_account and o.source_order_id = id and modified_at is not null;
  -- A platform that cancels an order that it had ordered again cancels it anew.
  update cancellation_requests r
  set ordered_again_at = null, closed_at = null, closed_by = null, requested_at = clock_timestamp()
  from orders o
  where o.account_id = for_account and o.source_order_id = id
    and r.account_id = for_account and r.order_id = o.order_id and r.ordered_again_at is not null;
end
$$;
-- safe: no version before has this function.
revoke all on function cancel_order_of_source(integer, integer, text, timestamptz) from public;

-- An order that was cancelled needs review again and gets a warning; of one that dispatching may have seen, the request is open again and
-- says so. Called under the lock of the order.
create function order_again(for_account integer, of_order bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  actor text;
begin
  update orders
  set review_state = 'needs_review', reviewed_at = clock_timestamp(), review_reason = null,
      warnings = case when warnings @> '[{"code": "ordered_again"}]' then warnings
                      else '[{"pointer": "", "code": "ordered_again", "detail": "The platform cancelled this order and then sent it again"}]' || warnings
                 end
  where account_id = for_account and order_id >= of_order and order_id <= of_order and review_state = 'cancelled'
  returning reviewed_by into actor;
  if found then
    insert into order_words (account_id, order_id, words)
    select account_id, order_id, order_words(account_id, source_order_id, order_number, customer_name, customer_phone, channel, emirate_code, warnings)
    from orders where account_id = for_account and order_id >= of_order and order_id <= of_order
    on conflict (account_id, order_id) do update set words = excluded.words;
    insert into audit_events (account_id, at, actor, action, subject, details)
    values (for_account, clock_timestamp(), actor, 'order_reopened', 'order:' || of_order, '{"ordered_again": true}');
  else
    update cancellation_requests set ordered_again_at = clock_timestamp(), closed_at = null, closed_by = null
    where account_id = for_account and order_id = of_order;
  end if;
end
$$;
-- safe: no version before has this function.
revoke all on function order_again(integer, bigint) from public;
`;
