/** When a platform cancelled an order, by its own clock, so that a later delivery of the order is known. Decision 026. */
export const name = '059-platform-cancellations';

export const up = `
-- The time of modification in the newest delivery that cancelled the order; null if it has none.
alter table orders add column platform_cancelled_at timestamptz;
`;
