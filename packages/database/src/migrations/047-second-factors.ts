/** The authenticator app and the recovery codes of users, in the shape that the authentication library wants. Decision 032. */
export const name = '047-second-factors';

export const up = `
-- A user with any second factor has a row, also for passkeys alone, because recovery codes belong to the user.
create table user_second_factors (
  id             text primary key,
  user_id        text not null unique references users on delete cascade,
  -- The secret of the authenticator app, encrypted; empty without an app.
  secret         text not null,
  -- The encrypted secret of an app that is being set up, until a code shows that the app has it.
  pending_secret text,
  -- A JSON array with the SHA-256 of each unused recovery code.
  backup_codes   text not null,
  -- Whether there is an app.
  verified       boolean not null default false,
  -- The time step of the last code that was accepted: a code is accepted once (RFC 6238, section 5.2).
  last_time_step integer,
  -- The library's; attempts are counted in sign_in_attempts.
  failed_verification_count integer not null default 0,
  locked_until   timestamptz
);
`;
