-- One role for each app, with what its statements need and nothing else. The role that runs `orders migrate` and the operator's
-- commands owns the database; it is not one of these.
--
-- `orders migrate` runs this file when it is given the passwords of the roles (INTAKE_DB_PASSWORD and so on), and again after each
-- migration in a database where it ran once. By hand, as that owner, after the first `orders migrate`:
--
--   psql --set ON_ERROR_STOP=1 --file roles.sql "$DATABASE_URL"     then \password orders_intake, and so on
--
-- Safe to repeat. Missing roles are created, which takes CREATEROLE or a superuser; the rest takes the owner.
-- A statement of an app that fails with 42501 (insufficient_privilege) needs a line here.

do $$
declare
  app text;
begin
  foreach app in array array['orders_intake', 'orders_worker', 'orders_portal', 'orders_notifier'] loop
    continue when exists (select from pg_roles where rolname = app);
    begin
      execute format('create role %I login', app);
    exception when duplicate_object or unique_violation then
      -- Created meanwhile, for another database of this server.
    end;
  end loop;
end
$$;

-- The worker creates and drops the weekly partitions, which takes the ownership of the two partitioned tables and of each partition;
-- the owner of the database stays able to alter them as a member of the worker's role. Each table by itself: two locks at once could
-- deadlock with the apps.
do $$
declare
  owner name := (select tableowner from pg_tables where schemaname = 'public' and tablename = 'schema_migrations');
  receipts regclass;
begin
  if owner is null then raise 'there is no schema yet: run orders migrate first'; end if;
  if not pg_has_role(owner, 'orders_worker', 'usage') then execute format('grant orders_worker to %I', owner); end if;
  grant create on schema public to orders_worker;
  for receipts in
    select oid from pg_class
    where relkind in ('r', 'p') and relowner <> 'orders_worker'::regrole
      and (oid in ('receipts'::regclass, 'receipt_payloads'::regclass)
           or oid in (select inhrelid from pg_inherits
                      where inhparent in ('receipts'::regclass, 'receipt_payloads'::regclass)))
  loop
    commit;
    -- Intake waits behind this lock, so it is asked for briefly.
    perform set_config('lock_timeout', '2s', true);
    execute format('alter table %s owner to orders_worker', receipts);
  end loop;
end
$$;

do $$
declare
  relation regclass;
begin
  -- What an earlier version of this file granted and this one does not.
  for relation in
    select oid from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S')
      and relowner <> 'orders_worker'::regrole and pg_has_role(relowner, 'usage')
  loop
    execute format('revoke all on %s %s from orders_intake, orders_worker, orders_portal, orders_notifier',
      case when (select relkind from pg_class where oid = relation) = 'S' then 'sequence' else 'table' end, relation);
  end loop;
  revoke all on table receipts, receipt_payloads from orders_intake, orders_portal, orders_notifier;

  -- Every app asks whether the schema is the one that it needs.
  grant select on schema_migrations to orders_intake, orders_worker, orders_portal, orders_notifier;

  -- Intake: checks keys and signatures, stores receipts, answers by them. It reads no customer's data of an order.
  grant select on accounts, api_keys, signing_secrets, sources, installation to orders_intake;
  grant select, insert, update (count, last_at, receipt_ids) on source_activity to orders_intake;
  grant update (used_at) on sources to orders_intake;
  grant update (last_used_at) on api_keys, signing_secrets to orders_intake;
  grant select, insert on receipts, receipt_payloads, idempotency_keys, outbox to orders_intake;
  grant select (account_id, order_id, source_order_id, receipt_id, received_at, review_state) on orders to orders_intake;
  -- How long dispatching is held up.
  grant select (due_at) on undispatched_orders to orders_intake;
  grant select (account_id, source_order_id, order_id) on order_keys to orders_intake;
  -- It cancels orders by these functions alone.
  grant execute on function cancel_orders(integer, bigint, integer, text[], text[]),
    cancel_order_of_source(integer, integer, text, timestamptz) to orders_intake;
  grant select (account_id, requested_at, closed_at) on cancellation_requests to orders_intake;
  -- It serves the events of an account. Database functions record them.
  grant select on event_logs, events to orders_intake;
  -- How late deliveries are.
  grant select (account_id, endpoint_number, delivered_to, disabled, failing_since) on endpoints to orders_intake;
  -- For the age of the oldest one.
  grant select (account_id, due_at) on unpublished_events to orders_intake;
  grant select (event_id, queued_at) on unchained_audit_events to orders_intake;
  -- What was sent under a used idempotency key is kept: dead where it names another order.
  grant delete on idempotency_keys to orders_intake;
  grant select, insert on dead_letters to orders_intake;
  grant select on changed_deliveries to orders_intake;
  -- Rejections that were only counted are added to the newest row of their account.
  grant insert, select (account_id, rejection_id, more), update (more) on rejected_deliveries to orders_intake;

  -- The worker: claims receipts, writes orders, keeps the tables. No key, no secret, no password, no session, and nothing of the audit
  -- trail but adding to it.
  grant select on accounts to orders_worker;
  grant select, update, delete on outbox to orders_worker;
  -- A row that is locked for share takes the right to update some column of it.
  grant select, insert, update (written_at) on orders to orders_worker;
  grant select, insert on order_keys to orders_worker;
  grant execute on function make_order_partitions(bigint), begin_order_range() to orders_worker;
  -- An order whose cancellation is held is written as cancelled, with audit.
  grant execute on function take_held_cancellation(integer, text), remove_held_cancellations(timestamptz, integer) to orders_worker;
  -- It raises an order that its platform cancelled and then ordered again.
  grant select (account_id, order_id, requested_by, requested_at, ordered_again_at) on cancellation_requests to orders_worker;
  grant execute on function reopen_ordered_again(integer, bigint, boolean) to orders_worker;
  grant insert on audit_events to orders_worker;
  -- It chains the audit events by this function alone.
  grant execute on function chain_audit_events(integer) to orders_worker;
  -- It records the events of written orders, publishes all, and removes old ones.
  grant select, update (last_sequence, removed_to) on event_logs to orders_worker;
  grant select, insert, delete on unpublished_events, events to orders_worker;
  -- Rows are locked, which takes the right to update some column of them.
  grant update (event_number) on unpublished_events to orders_worker;
  -- It dispatches confirmed orders, and requests to cancel them.
  grant select, delete, update (due_at) on undispatched_orders to orders_worker;
  grant insert on dispatch_log to orders_worker;
  grant select, update (last_position) on dispatch_counter to orders_worker;
  grant select (position), update (position) on cancellation_requests to orders_worker;
  -- It empties test accounts by these functions alone.
  grant execute on function remove_test_orders(timestamptz, integer), remove_test_receipts(uuid, uuid, integer),
    remove_test_payloads(uuid, uuid, uuid) to orders_worker;
  grant select, update on test_mode_clock to orders_worker;
  grant usage on sequence order_ids to orders_worker;
  grant select, insert, delete, update (is_outdated) on changed_deliveries to orders_worker;
  -- A platform says whether an order is paid.
  grant execute on function apply_payment_state(integer, bigint, integer, text, text, jsonb) to orders_worker;
  grant execute on function review_paid_order(integer, bigint, integer) to orders_worker;
  grant select, insert, update, delete on dead_letters, activity, order_words, order_words_marks to orders_worker;
  grant select, update on activity_clock to orders_worker;
  grant select, delete, update (created_at) on idempotency_keys to orders_worker;
  grant select, delete on rejected_deliveries to orders_worker;
  grant select (account_id, endpoint_number, attempt_number, at), delete on delivery_attempts to orders_worker;
  grant select (account_id, endpoint_number, sequence), delete on waiting_deliveries to orders_worker;
  grant select (account_id, endpoint_number) on endpoints to orders_worker;
  grant select (day), delete on source_activity to orders_worker;
  grant select, insert, update, delete on workers to orders_worker;
  grant select (window_to), delete on sign_in_attempts to orders_worker;
  grant select (expires_at, ends_at), delete on user_sessions to orders_worker;
  grant select (expires_at), delete on user_verifications to orders_worker;
  grant select (expires_at), delete on invitations, password_resets to orders_worker;
  grant select (at), delete on unconfirmed_sign_ins to orders_worker;
  grant select (at, reply), update (reply), delete on portal_requests to orders_worker;

  -- The portal: people, their accounts, keys and secrets, reviews, redrives and test orders. It adds to the audit trail and changes
  -- nothing in it, and erases nothing.
  grant select on accounts, api_keys, signing_secrets, receipts, receipt_payloads, outbox, orders, order_keys, changed_deliveries, dead_letters, activity,
    activity_clock, rejected_deliveries, audit_events, order_words, order_words_marks, users, user_sessions, user_credentials,
    user_verifications, invitations, password_resets, unconfirmed_sign_ins, sign_in_attempts, order_notes, order_prints, order_snoozes, review_views, review_presence, cancellation_requests,
    workers, sources, source_mappings, source_activity, installation to orders_portal;
  grant insert, update (source_id, mapping, mapping_version, sealed, previous_sealed, previous_until, removed_at, id_prefix, used_at) on sources
    to orders_portal;
  grant insert, delete on source_mappings to orders_portal;
  -- Redriving maps a delivery again, and carries out a cancellation.
  grant execute on function map_unmapped_receipt(integer, uuid, text, bytea, uuid, text),
    cancel_order_of_source(integer, integer, text, timestamptz) to orders_portal;
  grant insert, update (closed_at, closed_by) on cancellation_requests to orders_portal;
  -- A confirmation, and taking it back.
  grant insert, select, delete on undispatched_orders to orders_portal;
  -- Receipts are searched by their idempotency key, and those of an uploaded file have keys.
  grant select (account_id, idempotency_key, receipt_id), insert on idempotency_keys to orders_portal;
  grant insert on audit_events, accounts, api_keys to orders_portal;
  grant update (suspended_at, rate_requests, rate_seconds, rate_unlimited, hold_changed_deliveries, signed_only, review_target_minutes)
    on accounts to orders_portal;
  grant update (expires_at, revoked_at, lifetime_seconds, scopes, addresses) on api_keys to orders_portal;
  grant insert, update (expires_at), delete on signing_secrets to orders_portal;
  grant select, insert, update (role), delete on memberships to orders_portal;
  grant select, insert, delete, update (expires_at) on operator_changes to orders_portal;
  grant select, insert, update, delete on user_second_factors, user_passkeys to orders_portal;
  grant update (second_factor_required) on accounts to orders_portal;
  grant insert, update, delete on users, user_sessions, user_credentials, user_verifications, invitations, password_resets,
    sign_in_attempts to orders_portal;
  grant insert, delete on unconfirmed_sign_ins to orders_portal;
  grant select, insert, update (status, reply), delete on portal_requests to orders_portal;
  grant insert on receipts, receipt_payloads to orders_portal;
  -- The other grants are for the dry run of a redrive, which claims and writes the receipt and is rolled back.
  grant update (state, attempts, crashes, runs_alone, error_code, history, normalized_at, updated_at, order_id, warnings, lease_id,
    lease_expires_at)
    on receipts to orders_portal;
  grant insert, delete on outbox to orders_portal;
  grant insert on orders, order_keys, unpublished_events to orders_portal;
  grant select on event_logs to orders_portal;
  grant execute on function take_held_cancellation(integer, text) to orders_portal;
  grant usage on sequence order_ids to orders_portal;
  grant delete on dead_letters to orders_portal;
  grant insert, update on activity to orders_portal;
  grant update (order_number, customer_name, customer_phone, customer_email, customer_id, address, emirate, emirate_code, area, items,
    total, currency, payment_state, delivery_time, delivery_method, delivery_instructions, details, warnings, severity, review_state, reviewed_by, reviewed_at, review_reason)
    on orders to orders_portal;
  grant insert, update, delete on order_words to orders_portal;
  grant update (decision, decided_by, decided_at) on changed_deliveries to orders_portal;
  grant insert on order_notes to orders_portal;
  grant insert, update (count) on order_prints to orders_portal;
  grant insert, update, delete on order_snoozes to orders_portal;
  grant insert, delete on review_views to orders_portal;
  grant insert, update, delete on review_presence to orders_portal;

  grant select on events, unpublished_events, endpoints, waiting_deliveries, delivery_attempts to orders_portal;
  grant insert, update (is_enabled) on event_logs to orders_portal;
  grant insert, delete,
    update (sealed, previous_sealed, previous_until, disabled, failing_since, is_slow, next_round_at, test_event_id)
    on endpoints to orders_portal;
  grant insert, update (due_at) on waiting_deliveries to orders_portal;

  -- The notifier: delivers events to endpoints. Nothing of orders, receipts, keys, signing secrets or people.
  grant select on event_logs, events to orders_notifier;
  -- Which endpoints are of test accounts, and of accounts that are being moved.
  grant select (account_id, test_of, moving_since) on accounts to orders_notifier;
  grant select,
    update (delivered_to, disabled, failing_since, is_slow, last_slow_at, next_round_at, lease_id, lease_expires_at, test_event_id)
    on endpoints to orders_notifier;
  grant select, insert, update, delete on waiting_deliveries to orders_notifier;
  grant insert on delivery_attempts to orders_notifier;

  -- Where the queue is on Postgres, it has a schema of its own.
  if exists (select from pg_namespace where nspname = 'bullmq') then
    grant usage on schema bullmq to orders_intake, orders_worker, orders_portal;
    grant select, insert, update, delete on all tables in schema bullmq to orders_intake, orders_worker, orders_portal;
    grant usage on all sequences in schema bullmq to orders_intake, orders_worker, orders_portal;
  end if;
end
$$;

-- The age of the oldest transaction is a metric of intake; of other roles' sessions only this role shows it. Where the owner may not
-- grant it, a superuser does: grant pg_read_all_stats to orders_intake. Without it that metric is absent.
do $$
begin
  if pg_has_role('orders_intake', 'pg_read_all_stats', 'usage') then return; end if;
  begin
    grant pg_read_all_stats to orders_intake;
  exception when insufficient_privilege then
    raise notice 'pg_read_all_stats was not granted to orders_intake: that takes a superuser';
  end;
end
$$;
