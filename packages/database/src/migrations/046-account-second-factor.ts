/** Whether the users of an account need a second factor. Decision 032. */
export const name = '046-account-second-factor';

export const up = 'alter table accounts add column second_factor_required boolean not null default false';
