/** When the personal data of an order was removed; decision 020. Of a receipt: the next one, which locks that table by itself. */
export const name = '008-erasure';

export const up = 'alter table orders add column if not exists erased_at timestamptz';
