/** Sign-ins from a device unknown for the user, until the user says whether it was them. */
export const name = '052-unconfirmed-sign-ins';

export const up = `
create table unconfirmed_sign_ins (
  -- No foreign key: the question stays when the session has ended.
  session_id text primary key,
  user_id    text not null references users on delete cascade,
  at         timestamptz not null default now(),
  user_agent text
);
create index unconfirmed_sign_ins_by_user on unconfirmed_sign_ins (user_id, at);
`;
