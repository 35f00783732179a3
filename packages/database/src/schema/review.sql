-- What reviewers add to the list: notes about orders, which were printed or are snoozed, saved views, and who is looking at it. See docs/decisions/review.md.

create table order_notes (
  account_id integer not null,
  order_id   bigint not null,
  note_id    bigint generated always as identity,
  at         timestamptz not null default clock_timestamp(),
  -- An e-mail address.
  by         text not null,
  text       text not null,
  primary key (account_id, order_id, note_id)
);

-- That an order was printed, so that a later print is marked as a further one. The audit log has each print.
create table order_prints (
  account_id integer not null,
  order_id   bigint not null,
  -- The first print.
  printed_at timestamptz not null default clock_timestamp(),
  -- An e-mail address.
  printed_by text not null,
  count      integer not null default 1,
  primary key (account_id, order_id)
);

-- Orders that a reviewer has snoozed until a time, such as to wait for an answer of the customer. They leave the list, and need review as
-- before. A row is kept for a day after its time, to tell that its order is back.
create table order_snoozes (
  account_id integer not null,
  order_id   bigint not null,
  until      timestamptz not null,
  -- An e-mail address.
  by         text not null,
  reason     text,
  primary key (account_id, order_id)
);

-- What happens to a snoozed order ends its snooze. Snoozing locks its order before this row, so nobody who has locked the order waits here.
create function end_snooze() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update order_snoozes set until = clock_timestamp()
  where (account_id, order_id) in (
    select account_id, order_id from order_snoozes
    where account_id = new.account_id and order_id = new.order_id and until > clock_timestamp()
    for update skip locked
  );
  return null;
end
$$;
revoke all on function end_snooze() from public;

create trigger end_snooze after update of review_state, payment_state on orders for each row
when (old.review_state <> new.review_state or old.payment_state is distinct from new.payment_state) execute function end_snooze();
create trigger end_snooze after insert on changed_deliveries for each row
when (new.changes is not null) execute function end_snooze();

create table review_views (
  account_id integer not null,
  user_id    text not null references users on delete cascade,
  view_id    bigint generated always as identity,
  name       text not null,
  -- The query string of the page, without its question mark.
  query      text not null,
  primary key (account_id, user_id, view_id),
  unique (account_id, user_id, name)
);
create index review_views_by_user on review_views (user_id);

-- Unlogged, so it is empty after a crash, which loses nothing: a row counts for ten seconds only. No foreign key, so that a poll locks no
-- user.
create unlogged table review_presence (
  account_id integer not null,
  user_id    text not null,
  -- The open order; null if it is only the list.
  order_id   bigint,
  seen_at    timestamptz not null,
  -- The order that was chosen for the user as the next one, also for ten seconds: it stays theirs until a poll says that it is open.
  claimed_id bigint,
  claimed_at timestamptz,
  primary key (account_id, user_id)
);
