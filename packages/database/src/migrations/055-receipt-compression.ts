/** The same for the warnings of receipts. A new partition takes the setting from the table, an existing one does not. */
export const name = '055-receipt-compression';

export const up = `
-- safe: it changes only the catalog, and receipts of the previous version are compressed in the same way.
do $$
declare
  part regclass;
begin
  if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
    alter table receipts alter column warnings set compression lz4;
    for part in select inhrelid::regclass from pg_inherits where inhparent = 'receipts'::regclass loop
      execute format('alter table %s alter column warnings set compression lz4', part);
    end loop;
  end if;
end
$$;
`;
