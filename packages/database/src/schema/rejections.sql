-- The log of rejected deliveries: why, and nothing of what was sent but its length. Limited by age and by number for each account.
-- See docs/decisions/authentication.md.
create table rejected_deliveries (
  account_id    integer not null,
  rejection_id  bigint generated always as identity,
  at            timestamptz not null default now(),
  channel       text not null check (channel in ('rest', 'webhook')),
  code          text not null,
  diagnosis     text,
  request_id    text not null,
  -- A rejected delivery has a key or a source.
  key_id        bigint,
  source_number integer,
  body_bytes    integer,
  -- [{pointer, code}] of a validation_failed.
  errors        jsonb,
  -- Rejections before this one that came too fast to be stored, and were only counted.
  more          integer not null default 0,
  primary key (account_id, rejection_id)
);
create index rejected_deliveries_by_age on rejected_deliveries using brin (at) with (autosummarize = on);
