-- Accounts and what they authenticate with. See docs/decisions/authentication.md.

create table accounts (
  account_id             integer generated always as identity primary key,
  name                   text not null,
  created_at             timestamptz not null default now(),
  suspended_at           timestamptz,
  -- A rate limit of its own, or none at all. Where nothing is set, the general limit holds.
  rate_requests          integer check (rate_requests > 0),
  rate_seconds           integer check (rate_seconds between 1 and 2073600),
  rate_unlimited         boolean not null default false check (not rate_unlimited or rate_requests is null),
  -- Whether an order that is sent again with other content waits for a decision of a person.
  hold_changed_deliveries boolean not null default false,
  -- Whether only signed deliveries are accepted.
  signed_only            boolean not null default false,
  -- Whether the members need a second factor to sign in.
  second_factor_required boolean not null default false,
  -- Within how many minutes of its receipt an order is to be decided. Null for no target.
  review_target_minutes  integer check (review_target_minutes between 1 and 10080),
  -- The account whose tests this one takes, in test mode; null for all others. See test-mode.sql.
  test_of                integer references accounts check (test_of <> account_id),
  -- The base URL of intake of the installation to which the account was moved; null for all that are here. A test account has its own.
  moved_to               text,
  -- Since when nothing is accepted, delivered or changed here, because the account is being moved; it stays once it was moved away. See
  -- moves.sql.
  moving_since           timestamptz check (moving_since is null or suspended_at is not null),
  check ((rate_requests is null) = (rate_seconds is null))
);
-- Not unique, as every unique key has the account id: an account's test account is made under the lock of the account.
create index accounts_of_tests on accounts (test_of) where test_of is not null;

create table api_keys (
  account_id       integer not null references accounts,
  key_id           bigint generated always as identity,
  name             text not null,
  -- SHA-256 of 43 random characters.
  key_hash         bytea not null,
  last_four        text not null,
  scopes           text[] not null default '{send,cancel,read}',
  -- Addresses and ranges (CIDR) from which it works; empty for all.
  addresses        text[] not null default '{}',
  created_at       timestamptz not null default now(),
  expires_at       timestamptz,
  -- The lifetime that was chosen, which its replacement gets too. Null if none was, and once the key is replaced: expires_at is then the
  -- end of its grace period.
  lifetime_seconds integer,
  revoked_at       timestamptz,
  last_used_at     timestamptz,
  primary key (account_id, key_id)
);
-- Not unique: random hashes do not repeat, and every unique key carries the account id.
create index api_keys_by_hash on api_keys (key_hash);

-- Signing is enabled for an account while it has a secret that has not expired.
create table signing_secrets (
  account_id   integer not null references accounts,
  secret_id    bigint generated always as identity,
  -- The secret, encrypted.
  sealed       bytea not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  -- The last time that it verified a webhook after there was a newer secret: shows whether a sender still uses the old one.
  last_used_at timestamptz,
  primary key (account_id, secret_id)
);
