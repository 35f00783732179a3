/** When the personal data of an order or a receipt was removed; decision 020. */
export const name = '008-erasure';

export const up = `
-- Whoever writes waits behind these two, so they are asked for briefly.
set local lock_timeout = '5s';
alter table orders add column erased_at timestamptz;
alter table receipts add column erased_at timestamptz;
`;
