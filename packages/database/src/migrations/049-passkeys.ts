/** The passkeys of users, in the shape that the authentication library wants. Decision 032. */
export const name = '049-passkeys';

export const up = `
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
  aaguid        text,
  created_at    timestamptz default now()
);
create index user_passkeys_by_user on user_passkeys (user_id);
`;
