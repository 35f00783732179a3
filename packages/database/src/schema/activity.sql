-- What the portal and the operators' page show without reading all receipts.

-- Outcomes of the receipts that an account sent within five minutes. latency_slots and latency_counts are a histogram of the time until
-- they were written; warnings has their number by code and pointer.
create table activity (
  account_id     integer not null,
  bucket_start   timestamptz not null,
  accepted       integer not null default 0,
  written        integer not null default 0,
  duplicate      integer not null default 0,
  failed         integer not null default 0,
  dead           integer not null default 0,
  latency_slots  integer[] not null default '{}',
  latency_counts integer[] not null default '{}',
  warnings       jsonb not null default '{}',
  computed_at    timestamptz,
  settled        boolean not null default false,
  -- How often a redrive made a settled bucket unsettled; a computation that began before the last one does not settle it.
  reopened       integer not null default 0,
  primary key (account_id, bucket_start)
);
create index activity_unsettled on activity (bucket_start) where not settled;

-- One row. Activity is as of as_of, and each bucket that began before computed_to has been computed.
create table activity_clock (
  as_of       timestamptz,
  computed_to timestamptz not null
);
insert into activity_clock (as_of, computed_to) values (null, 'epoch');

-- The running workers and when each last reported.
create table workers (
  worker_id  uuid primary key,
  host       text not null,
  pid        integer not null,
  -- Whether it was connected to the queue when it last reported.
  has_queue  boolean not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);
