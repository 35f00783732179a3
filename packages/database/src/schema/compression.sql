-- LZ4 compresses some five times as fast as pglz, the default: writing large orders takes 0.6 of the CPU time. A Postgres may have been
-- built without it. New partitions of receipts take the setting from the table, existing ones do not; those of bodies are created with
-- it.
do $$
begin
  if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
    alter table receipts alter column warnings set compression lz4;
    alter table receipts_default alter column warnings set compression lz4;
    alter table receipt_payloads alter column bodies set compression lz4;
    alter table receipt_payloads_default alter column bodies set compression lz4;
    alter table orders alter column items set compression lz4, alter column warnings set compression lz4;
  end if;
end
$$;
