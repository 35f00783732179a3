/**
 * What was sent again of an order that was there: each receipt that ended `duplicate`, and what it said otherwise. It is not part of the
 * receipt, so that the write of an order that is new pays nothing for it. Decision 021.
 */
export const name = '010-resends';

export const up = `
create table resends (
  account_id integer not null,
  order_id   bigint not null,
  receipt_id uuid not null,
  -- What differs from the order as it was first sent, [{ pointer, from, to }] in normalized values, those that are too long left out; null where nothing does.
  changes    jsonb,
  decision   text check (decision in ('accepted', 'refused')),
  decided_by text,
  decided_at timestamptz,
  primary key (account_id, order_id, receipt_id)
);
-- Most say the same as their order, and there may be thousands of one.
create index resends_with_changes on resends (account_id, order_id, receipt_id) where changes is not null;

-- The erasure of the version before, which may run beside this one, knows nothing of them.
create function erase_changes() returns trigger language plpgsql as $$
begin
  update resends set changes = null
  where account_id = new.account_id and order_id = new.order_id and changes is not null;
  return null;
end
$$;
-- safe: it acts on the new table alone, only when an order is erased, and is made without reading orders; writers wait for a moment.
create trigger erase_changes after update of erased_at on orders
for each row when (new.erased_at is not null) execute function erase_changes();
`;
