/**
 * When a resend was stored, for reviewers' pages, which ask for those of the last seconds. `received_at` can be long before. Rows from
 * before are older than all others.
 */
export const name = '020-resends-stored-at';

export const up = `
alter table resends add column if not exists stored_at timestamptz not null default '-infinity';
alter table resends alter column stored_at set default clock_timestamp();
`;
