/**
 * Orders that their sender cancelled, and cancellations held for an order that has not arrived: a row with the state `cancellation_held`
 * occupies its key until then. Decision 026.
 */
export const name = '023-cancelled-orders';

export const up = `
-- safe: it accepts more than before, and reads no row. The previous version writes only the three old states.
alter table orders
  drop constraint orders_review_state_check,
  add constraint orders_review_state_check
    check (review_state in ('needs_review', 'confirmed', 'rejected', 'cancelled', 'cancellation_held')) not valid;
`;
