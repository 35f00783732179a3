-- Who may sign in to the portal, and what they may do there. See docs/decisions/portal-and-sign-in.md.
-- These tables belong to no shard: an operator has no account, and
-- an address signs in before its account is known. The shape of `users` is the one that the authentication library wants.

create table users (
  id                 text primary key,
  email              text not null unique check (email = lower(email)),
  email_verified     boolean not null default false,
  name               text not null,
  -- The library's; stays empty.
  image              text,
  role               text not null check (role in ('operator', 'account_holder')),
  -- Whether a second factor is set up, so that a password alone opens no session.
  two_factor_enabled boolean not null default false,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  -- Stored here because sessions are removed when they have ended.
  last_signed_in_at  timestamptz
);

-- The accounts of a user. An operator has none.
create table memberships (
  user_id    text not null references users on delete cascade,
  account_id integer not null references accounts,
  role       text not null check (role in ('viewer', 'reviewer', 'developer', 'owner')),
  created_at timestamptz not null default now(),
  primary key (user_id, account_id)
);
create index memberships_by_account on memberships (account_id, user_id);

-- One-time links for future users, and for users who join another account or set a new password.
create table invitations (
  invitation_id bigint generated always as identity primary key,
  -- SHA-256 of a random number.
  token_hash    bytea not null unique,
  email         text not null check (email = lower(email)),
  role          text not null check (role in ('operator', 'account_holder')),
  account_id    integer references accounts,
  -- The role in the account.
  member_role   text check (member_role in ('viewer', 'reviewer', 'developer', 'owner')),
  -- Whether the link sets the password of an existing user. Otherwise the user has to sign in to accept it.
  sets_password boolean not null,
  invited_by    text not null,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  accepted_at   timestamptz,
  check ((role = 'operator') = (account_id is null)),
  check ((account_id is null) = (member_role is null))
);

-- Changes to operators that wait for the approval of another operator. The audit trail records the decisions.
create table operator_changes (
  change_id      bigint generated always as identity primary key,
  kind           text not null check (kind in ('invite', 'reset_password', 'remove', 'end_sessions', 'reset_second_factor')),
  email          text not null check (email = lower(email)),
  -- Null for an address without a user.
  target_user_id text references users on delete cascade,
  requested_by   text not null references users on delete cascade,
  requested_at   timestamptz not null default now(),
  expires_at     timestamptz not null default now() + interval '7 days'
);
create unique index operator_changes_by_kind on operator_changes (email, kind);
create index operator_changes_by_target on operator_changes (target_user_id);
create index operator_changes_by_requester on operator_changes (requested_by);
