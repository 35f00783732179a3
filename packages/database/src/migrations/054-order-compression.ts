/**
 * With LZ4, the statement that writes large orders takes 0.6 of the CPU of Postgres. A Postgres may have been built without it. What is
 * stored already stays as it is, and is read as before.
 */
export const name = '054-order-compression';

export const up = `
-- safe: it changes only the catalog, and orders of the previous version are compressed in the same way.
do $$
begin
  if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
    alter table orders alter column items set compression lz4, alter column warnings set compression lz4;
  end if;
end
$$;
`;
