/** What an API key may do, from where, and for how long. */
export const name = '037-key-access';

export const up = `
-- safe: the defaults are constants, whose commas and braces the check of migrations does not read.
alter table api_keys
  add column scopes text[] not null default '{send,cancel,read}',
  -- Addresses and ranges (CIDR) from which it works; empty for all.
  add column addresses text[] not null default '{}',
  -- The lifetime that was chosen, which its replacement gets too. Null if none was, and once the key is replaced: expires_at is then
  -- the end of its grace period.
  add column lifetime_seconds integer`;
