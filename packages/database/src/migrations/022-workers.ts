/** The running workers and when each last reported, for the operators' page. */
export const name = '022-workers';

export const up = `
create table workers (
  worker_id  uuid primary key,
  host       text not null,
  pid        integer not null,
  -- Whether it was connected to the queue when it last reported.
  has_queue  boolean not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);
`;
