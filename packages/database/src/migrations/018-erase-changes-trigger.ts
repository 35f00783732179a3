/**
 * Creates the trigger of 010 where it is missing: 010 first had none, and was edited after it had run. Elsewhere this does
 * nothing. The index that 010 gained by the same edit was replaced in 017.
 */
export const name = '018-erase-changes-trigger';

export const up = `
-- safe: locks nothing where the trigger exists; else it reads no order, acts on resends alone, and writers wait for a moment.
do $repair$
begin
  if to_regprocedure('erase_changes()') is null then
    create function erase_changes() returns trigger language plpgsql as $$
begin
  update resends set changes = null
  where account_id = new.account_id and order_id = new.order_id and changes is not null;
  return null;
end
$$;
  end if;
  if not exists (select from pg_trigger where tgrelid = 'orders'::regclass and tgname = 'erase_changes') then
    create trigger erase_changes after update of erased_at on orders
    for each row when (new.erased_at is not null) execute function erase_changes();
  end if;
end
$repair$;
`;
