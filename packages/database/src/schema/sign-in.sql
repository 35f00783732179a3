-- Sessions and what users prove their identity with. See docs/decisions/portal-and-sign-in.md.
-- The shapes of sessions, credentials, verifications, second factors and
-- passkeys are those that the authentication library wants.

create table user_sessions (
  id               text primary key,
  user_id          text not null references users on delete cascade,
  token            text not null unique,
  ip_address       text,
  user_agent       text,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  expires_at       timestamptz not null,
  -- However much it is used, it ends then.
  ends_at          timestamptz not null default now() + interval '7 days',
  -- The last time that the user proved their identity; null if an identity provider did not tell it.
  authenticated_at timestamptz,
  -- Whether a second factor was part of that: a passkey, a code, or the word of an identity provider.
  second_factor    boolean not null default false
);
create index user_sessions_by_user on user_sessions (user_id);

-- Passwords, as salted scrypt hashes, and accounts at identity providers. The columns of tokens are the library's and stay empty.
create table user_credentials (
  id                       text primary key,
  user_id                  text not null references users on delete cascade,
  -- `credential` for a password, otherwise the issuer URL of the provider.
  provider_id              text not null,
  -- The `sub` of the provider's tokens.
  provider_account_id      text not null,
  password                 text,
  access_token             text,
  refresh_token            text,
  id_token                 text,
  access_token_expires_at  timestamptz,
  refresh_token_expires_at timestamptz,
  scope                    text,
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now()
);
create index user_credentials_by_user on user_credentials (user_id);
-- An account at a provider belongs to one user, and a user has one account at each provider.
create unique index user_credentials_by_identity on user_credentials (provider_id, provider_account_id)
  where provider_id <> 'credential';
create unique index user_credentials_by_provider on user_credentials (user_id, provider_id) where provider_id <> 'credential';

-- The library's: what it stores between two requests of a sign-in.
create table user_verifications (
  id         text primary key,
  identifier text not null,
  value      text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A user with any second factor has a row, also for passkeys alone, because recovery codes belong to the user.
create table user_second_factors (
  id                        text primary key,
  user_id                   text not null unique references users on delete cascade,
  -- The secret of the authenticator app, encrypted; empty without an app.
  secret                    text not null,
  -- The encrypted secret of an app that is being set up, until a code shows that the app has it.
  pending_secret            text,
  -- A JSON array with the SHA-256 of each unused recovery code.
  backup_codes              text not null,
  -- Whether there is an app.
  verified                  boolean not null default false,
  -- The time step of the last code that was accepted: a code is accepted once (RFC 6238, section 5.2).
  last_time_step            integer,
  -- The library's; attempts are counted in sign_in_attempts.
  failed_verification_count integer not null default 0,
  locked_until              timestamptz
);

create table user_passkeys (
  id            text primary key,
  user_id       text not null references users on delete cascade,
  -- Chosen by the user.
  name          text,
  credential_id text not null unique,
  public_key    text not null,
  -- An unsigned integer of 32 bits.
  counter       bigint not null,
  device_type   text not null,
  backed_up     boolean not null,
  transports    text,
  -- The model of the authenticator.
  aaguid        text,
  created_at    timestamptz default now()
);
create index user_passkeys_by_user on user_passkeys (user_id);

-- One-time links by which users set a new password themselves. One row a user, so a new link ends the earlier one.
create table password_resets (
  user_id    text primary key references users on delete cascade,
  -- SHA-256 of a random number.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

-- Sign-ins from a device unknown for the user, until the user says whether it was them.
create table unconfirmed_sign_ins (
  -- No foreign key: the question stays when the session has ended.
  session_id text primary key,
  user_id    text not null references users on delete cascade,
  at         timestamptz not null default now(),
  user_agent text
);
create index unconfirmed_sign_ins_by_user on unconfirmed_sign_ins (user_id, at);

-- Failed attempts to sign in within a window; the key is a digest of an e-mail address, a network, or both.
create table sign_in_attempts (
  key       text primary key,
  attempts  integer not null,
  window_to timestamptz not null
);
create index sign_in_attempts_by_end on sign_in_attempts (window_to);

-- Changing requests of the portal's users by their idempotency key, so that a repetition is not carried out again.
create table portal_requests (
  user_id    text not null references users on delete cascade,
  request_id uuid not null,
  -- HMAC of method, path and body: the body may contain a password.
  content    bytea not null,
  at         timestamptz not null default clock_timestamp(),
  -- The status of the response; null while the request is carried out.
  status     smallint,
  -- The body of the response, sealed: it may contain a secret that is shown once.
  reply      bytea,
  primary key (user_id, request_id)
);
create index portal_requests_by_time on portal_requests (at);
