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
  -- What differs from the order as it was first sent, [{ pointer, from, to }] in normalized values; null where nothing does.
  changes    jsonb,
  decision   text check (decision in ('accepted', 'refused')),
  decided_by text,
  decided_at timestamptz,
  primary key (account_id, order_id, receipt_id)
);
`;
