/** Stores when an endpoint was last slow, so that it counts as slow for some minutes. Decision 029. */
export const name = '035-slow-endpoints';

export const up = `
-- When its last round ended that took long; null if none did.
alter table endpoints add column last_slow_at timestamptz;
`;
