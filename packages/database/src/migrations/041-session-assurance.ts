/** How and when the user of a session proved who they are, and when the session ends at the latest. */
export const name = '041-session-assurance';

export const up = `
-- safe: now() is evaluated once here, so no row is written. Sessions of before the migration last up to seven days from it.
alter table user_sessions
  add column ends_at timestamptz not null default now() + interval '7 days',
  -- The last time that the user proved who they are; null in sessions of before the migration.
  add column authenticated_at timestamptz,
  -- Whether a second factor was part of that: a passkey, a code, or the word of an identity provider.
  add column second_factor boolean not null default false;
`;
