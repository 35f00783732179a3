/** Whether an account accepts signed deliveries only. */
export const name = '038-signed-only';

export const up = 'alter table accounts add column signed_only boolean not null default false';
