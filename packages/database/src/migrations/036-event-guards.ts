/** Ends the triggers that record events early for accounts that never had events. Decision 028. */
export const name = '036-event-guards';

export const up = `
-- safe: each function does what it did, and for accounts without a log it did nothing.
do $$
declare
  guarded record;
  definition text;
  guard text;
begin
  for guarded in
    select * from (values ('record_duplicate_events', 'new_resends'), ('record_dead_events', 'new_dead'),
                          ('record_order_events', 'new_audit_events')) as t(function, rows)
  loop
    definition := pg_get_functiondef((guarded.function || '()')::regprocedure);
    if strpos(definition, E'\\nbegin\\n') = 0 then
      raise exception '% has another text', guarded.function;
    end if;
    guard := format('  if not exists (select from event_logs where account_id = any(array(select account_id from %I))) then return null; end if;',
                    guarded.rows);
    execute replace(definition, E'\\nbegin\\n', E'\\nbegin\\n' || guard || E'\\n');
  end loop;
end
$$;
`;
