/** Whether a user has a second factor, so that a password alone opens no session. Decision 032. */
export const name = '048-users-with-second-factor';

export const up = 'alter table users add column two_factor_enabled boolean not null default false';
