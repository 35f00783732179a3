/**
 * When the receipt of a resend was received, by the clock of Postgres: the newest one of an order is the one received last. Rows from
 * before have no time of their own, so they are older than all others. What the version before still writes gets the time of its write.
 */
export const name = '015-resends-received-at';

export const up = `
alter table resends add column if not exists received_at timestamptz not null default '-infinity';
alter table resends alter column received_at set default now();
`;
