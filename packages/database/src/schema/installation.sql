-- The number of this installation, of those that a company runs beside each other. Ids begin in a range of their own, so that an account can
-- move to another installation with all that it has.

create table installation (
  number integer not null check (number between 0 and 8999)
);
create unique index installation_once on installation ((true));

-- The first migration has the number of INSTALLATION_NUMBER; it stays. All ids are below 2^53, so that they are exact in JSON.
do $$
declare
  of_installation bigint := coalesce(nullif(current_setting('orders.installation', true), ''), '0');
  sequence record;
  width bigint;
begin
  insert into installation values (of_installation);
  for sequence in select sequencename, data_type from pg_sequences where schemaname = 'public' loop
    width := case sequence.data_type when 'bigint'::regtype then 1000000000000 else 200000 end;
    execute format('alter sequence %I minvalue %s maxvalue %s start %s restart', sequence.sequencename,
                   of_installation * width + 1, (of_installation + 1) * width - 1, of_installation * width + 1);
  end loop;
end
$$;
