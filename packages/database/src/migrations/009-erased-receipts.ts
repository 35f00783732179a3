/** When the personal data of a receipt was removed; decision 020. */
export const name = '009-erased-receipts';

export const up = 'alter table receipts add column if not exists erased_at timestamptz';
