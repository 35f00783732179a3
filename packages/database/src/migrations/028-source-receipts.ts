/** The source of a receipt, and the mapping of deliveries that could not be mapped when they came. Decision 027. */
export const name = '028-source-receipts';

export const up = `
-- The source of a delivery. If it was mapped, its raw body follows the mapped body in the payload row, with this length; until then
-- the body is the raw body. is_cancellation: of a delivery that cancels an order and could not be mapped.
alter table receipts add column source_number integer, add column raw_length integer, add column is_cancellation boolean;

-- Of a dead receipt whose delivery had no source_order_id: stores the mapped body before the raw body, in a new payload row whose id is
-- of the same millisecond, so that both are dropped together. The old row has no other bodies. Returns false if it is another receipt, or
-- was mapped or erased meanwhile.
create function map_unmapped_receipt(of_account integer, of_receipt uuid, id text, mapped bytea, new_batch uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  old receipts;
begin
  select * into old from receipts
  where receipt_id = of_receipt and account_id = of_account and state = 'dead' and error_code = 'mapping_failed' and raw_length is null
    and erased_at is null
  for update;
  if not found then return false; end if;
  with moved as (
    delete from receipt_payloads where batch_id = old.batch_id and account_id = of_account returning bodies
  )
  insert into receipt_payloads (batch_id, account_id, bodies) select new_batch, of_account, mapped || bodies from moved;
  if not found then return false; end if;
  update receipts
  set source_order_id = id, batch_id = new_batch, body_start = 1, body_length = length(mapped), raw_length = old.body_length
  where receipt_id = of_receipt and account_id = of_account;
  return true;
end
$$;
-- safe: no version before has this function.
revoke all on function map_unmapped_receipt(integer, uuid, text, bytea, uuid) from public;

-- cancel_orders for a source as well: the same function with one more parameter. Either by_key or by_source is null.
-- safe: it adds a function and changes none; the version before calls the one with five parameters.
do $$
declare
  definition text := pg_get_functiondef('cancel_orders(integer, integer, text, text[], text[])'::regprocedure);
  extended text := replace(replace(definition,
    'by_key integer, by_channel text', 'by_key integer, by_source integer, by_channel text'),
    'actor text := (select', 'actor text := (select ''source:'' || name from sources where account_id = for_account and source_number = by_source
                   union all select');
begin
  if extended !~ 'by_source integer, by_channel' or extended !~ 'union all select' then
    raise exception 'cancel_orders of migration 026 has another text';
  end if;
  execute extended;
end
$$;
-- safe: no version before has this function.
revoke all on function cancel_orders(integer, integer, integer, text, text[], text[]) from public;
`;
