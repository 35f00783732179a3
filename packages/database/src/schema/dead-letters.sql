-- The receipts that are dead, and only those. An index on the state of receipts, even in its predicate, would end their HOT updates.
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

-- The condition is checked at every update of a receipt, and the function runs only for dead ones. New partitions inherit the trigger.
create trigger keep_dead_letters after update on receipts
for each row when (new.state = 'dead' or old.state = 'dead') execute function keep_dead_letters();
