/** Whether an order of this account that is sent again with other content waits for somebody's decision; decision 021. */
export const name = '011-hold-resends';

export const up = 'alter table accounts add column if not exists hold_resends boolean not null default false';
