/** Everybody who has an account becomes its owner. A trigger keeps memberships for the version before, which only knows users.account_id. */
export const name = '044-users-as-members';

export const up = `
-- The version before inserts a user in the transaction that accepts the invitation, so both have the time of that transaction. Without
-- one, and with one of that version, the user is an owner.
create function add_membership_of_user() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.account_id is null then
    delete from memberships where user_id = new.id;
    return null;
  end if;
  insert into memberships (user_id, account_id, role)
  values (new.id, new.account_id, coalesce((
    select i.member_role from invitations i
    where i.email = new.email and i.account_id = new.account_id and i.accepted_at = now() limit 1), 'owner'))
  on conflict do nothing;
  return null;
end
$$;

-- safe: it writes a table that the version before does not know; people are few, and writers wait for a moment.
create trigger add_membership_of_user after insert or update of account_id on users
for each row execute function add_membership_of_user();

-- safe: there are few users, and the version before does not know the table. The trigger's lock is held, so nobody is missed.
insert into memberships (user_id, account_id, role) select id, account_id, 'owner' from users where account_id is not null
on conflict do nothing;
`;
