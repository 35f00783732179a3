/** An account may have a rate limit of its own, or none although there is a general one. Where nothing is set, the general one holds. */
export const name = '003-account-rate-limits';

export const up = `
alter table accounts
  add column rate_requests  integer check (rate_requests > 0),
  add column rate_seconds   integer check (rate_seconds between 1 and 2073600),
  add column rate_unlimited boolean not null default false check (not rate_unlimited or rate_requests is null),
  add check ((rate_requests is null) = (rate_seconds is null));
`;
