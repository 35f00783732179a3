/**
 * The bodies of one account's receipts in one batch move into one row: one insert and one index entry for all of them, and orders of one
 * sender are so alike that together they compress well. Bodies stored before are batches of one.
 *
 * The apps of before it do not know this schema: they are stopped for it. Nothing had been released then.
 */
export const name = '002-payloads-by-batch';

export const up = `
alter table receipt_payloads rename column receipt_id to batch_id;
alter table receipt_payloads rename column body to bodies;

-- Where in its batch a receipt's body lies; the start counts from 1.
alter table receipts add column batch_id uuid, add column body_start integer, add column body_length integer;
update receipts r set batch_id = p.batch_id, body_start = 1, body_length = length(p.bodies)
from receipt_payloads p where p.batch_id = r.receipt_id and p.account_id = r.account_id;
alter table receipts
  alter column batch_id set not null, alter column body_start set not null, alter column body_length set not null;

-- Compressed bodies of up to a page stay in the row. LZ4 is some five times as fast as the older method, but a Postgres may have been built
-- without it. Neither setting is passed on to partitions.
do $$
declare
  partition regclass;
  has_lz4 boolean := (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression');
begin
  if has_lz4 then
    alter table receipt_payloads alter column bodies set compression lz4;
  end if;
  for partition in select inhrelid::regclass from pg_inherits where inhparent = 'receipt_payloads'::regclass loop
    execute format('alter table %s set (toast_tuple_target = 8160)', partition);
    if has_lz4 then
      execute format('alter table %s alter column bodies set compression lz4', partition);
    end if;
  end loop;
end
$$;
`;
