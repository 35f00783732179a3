/**
 * What the portal shows of receipts without reading them through: the dead ones by account, and each account's activity by time.
 *
 * Finding the receipts that are dead already reads all there are, once, and whoever writes to receipts waits for it.
 */
export const name = '007-activity';

export const up = `
-- The receipts that are dead, and only those. An index on receipts that names their state, even in its predicate, would end their HOT updates.
create table dead_letters (
  account_id      integer not null,
  receipt_id      uuid not null,
  error_code      text,
  source_order_id text collate "C" not null,
  died_at         timestamptz not null,
  primary key (account_id, receipt_id)
);
create index dead_letters_by_time on dead_letters (died_at, receipt_id);

create function keep_dead_letters() returns trigger language plpgsql as $$
begin
  if new.state = 'dead' then
    insert into dead_letters (account_id, receipt_id, error_code, source_order_id, died_at)
    values (new.account_id, new.receipt_id, new.error_code, new.source_order_id, new.updated_at)
    on conflict (account_id, receipt_id) do update set error_code = excluded.error_code, died_at = excluded.died_at;
  else
    delete from dead_letters where account_id = new.account_id and receipt_id = new.receipt_id;
  end if;
  return null;
end
$$;

-- The condition is weighed for every update of a receipt, the function runs for the dead only. Partitions made later inherit it.
create trigger keep_dead_letters after update on receipts
for each row when (new.state = 'dead' or old.state = 'dead') execute function keep_dead_letters();

insert into dead_letters (account_id, receipt_id, error_code, source_order_id, died_at)
select account_id, receipt_id, error_code, source_order_id, updated_at from receipts where state = 'dead';

-- What became of the receipts of an account that came in within five minutes. The time it took to write them is a histogram: how many fell
-- into which slot. warnings: how many there were by code and pointer.
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
  reopened       integer not null default 0,
  primary key (account_id, bucket_start)
);
create index activity_unsettled on activity (bucket_start) where not settled;

-- One row. Activity is as of this moment, and each bucket that began before computed_to was looked at.
create table activity_clock (
  as_of       timestamptz,
  computed_to timestamptz not null
);
insert into activity_clock values (null, 'epoch');
`;
