/**
 * Who may sign in to the portal, and the record of what people did. Users, their sessions and their passwords are kept in the shape the
 * authentication library wants. They belong to no shard: an operator has no account, and an e-mail address signs in before its account is known.
 */
export const name = '004-users-and-audit';

export const up = `
create table users (
  id             text primary key,
  email          text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  name           text not null,
  -- The authentication library's; stays empty.
  image          text,
  role           text not null check (role in ('operator', 'account_holder')),
  account_id     integer references accounts,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  -- Sessions are removed when they have ended.
  last_signed_in_at timestamptz,
  check ((role = 'operator') = (account_id is null))
);

create table user_sessions (
  id         text primary key,
  user_id    text not null references users on delete cascade,
  token      text not null unique,
  ip_address text,
  user_agent text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index user_sessions_by_user on user_sessions (user_id);

-- How a user proves who they are; the password is a salted scrypt hash. The columns of other providers are the library's and stay empty.
create table user_credentials (
  id                       text primary key,
  user_id                  text not null references users on delete cascade,
  provider_id              text not null,
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

-- The authentication library's, for mails that it could send; stays empty.
create table user_verifications (
  id              text primary key,
  identifier      text not null,
  value           text not null,
  expires_at      timestamptz not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
);

-- A one-time link; its token is a random number, of which only the SHA-256 is kept. For somebody who is a user already it sets a new password.
create table invitations (
  invitation_id integer generated always as identity primary key,
  token_hash    bytea not null unique,
  email         text not null check (email = lower(email)),
  role          text not null check (role in ('operator', 'account_holder')),
  account_id    integer references accounts,
  invited_by    text not null,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  accepted_at   timestamptz,
  check ((role = 'operator') = (account_id is null))
);

-- Attempts to sign in within a window, but for those that were right; the key is a digest of an e-mail address, a network, or both.
create table sign_in_attempts (
  key       text primary key,
  attempts  integer not null,
  window_to timestamptz not null
);
create index sign_in_attempts_by_end on sign_in_attempts (window_to);

-- Who did what to what: subject is a kind and an id, such as order:17 or key:3. Never a secret; details may hold an order's fields.
create table audit_events (
  event_id   bigint generated always as identity,
  account_id integer,
  at         timestamptz not null default now(),
  actor      text not null,
  action     text not null,
  subject    text not null,
  details    jsonb
);
create index audit_events_by_account on audit_events (account_id, event_id);
create index audit_events_by_time on audit_events (event_id);
create index audit_events_by_actor on audit_events (actor, event_id);
-- A subject is of one account, nearly always, so that this serves one account as well.
create index audit_events_by_subject on audit_events (subject, event_id);
`;
