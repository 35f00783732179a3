/** Which accounts a user belongs to, and with which role. An operator has none. Decision 031. */
export const name = '042-memberships';

export const up = `
create table memberships (
  user_id    text not null references users on delete cascade,
  account_id integer not null references accounts,
  role       text not null check (role in ('viewer', 'reviewer', 'developer', 'owner')),
  created_at timestamptz not null default now(),
  primary key (user_id, account_id)
);
create index memberships_by_account on memberships (account_id, user_id);
`;
