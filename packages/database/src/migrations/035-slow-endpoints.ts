/** Remembers that an endpoint was slow, so that it does not take turns between quick and slow rounds. Decision 029. */
export const name = '035-slow-endpoints';

export const up = `
-- When its last round ended that took long; null if none did.
alter table endpoints add column last_slow_at timestamptz;
`;
