/** The log of rejected deliveries, which each account reads in the portal; and when an old signing secret was last of use. */
export const name = '006-rejected-deliveries';

export const up = `
-- Set when a webhook is verified by a secret that is not the newest any more: whether somebody still has to change over.
alter table signing_secrets add column last_used_at timestamptz;

-- What was refused, and why; nothing of what was sent but its length. Bounded by age and by number for each account.
create table rejected_deliveries (
  account_id   integer not null,
  rejection_id bigint generated always as identity,
  at           timestamptz not null default now(),
  channel      text not null check (channel in ('rest', 'webhook')),
  code         text not null,
  diagnosis    text,
  request_id   text not null,
  key_id       integer not null,
  body_bytes   integer,
  -- [{pointer, code}] of a validation_failed.
  errors       jsonb,
  -- Refusals before this one that were counted only, because they came too fast.
  more         integer not null default 0,
  primary key (account_id, rejection_id)
);
create index rejected_deliveries_by_age on rejected_deliveries using brin (at) with (autosummarize = on);
`;
