/** One-time links by which users set a new password themselves. */
export const name = '051-password-resets';

export const up = `
-- One row for each user, so a new link ends the earlier one.
create table password_resets (
  user_id    text primary key references users on delete cascade,
  -- SHA-256 of a random number.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);
`;
