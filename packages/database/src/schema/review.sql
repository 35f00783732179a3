-- What reviewers add to the list: notes about orders, which were printed, saved views, and who is looking at it. See docs/decisions/review.md.

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
