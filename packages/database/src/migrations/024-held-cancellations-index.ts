/** Held cancellations by age, for their retention. */
export const name = '024-held-cancellations-index';

export const up = [
  'alter table orders validate constraint orders_review_state_check',
  'drop index concurrently if exists orders_cancellation_held',
  "create index concurrently orders_cancellation_held on orders (reviewed_at) where review_state = 'cancellation_held'",
];
