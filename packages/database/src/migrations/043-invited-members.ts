/** The role that an invitation gives in its account, and whether it sets the password of an existing user. */
export const name = '043-invited-members';

export const up = `
alter table invitations
  -- Null in invitations to be operator, and in those of the version before, which made owners.
  add column member_role text,
  -- Whether the link sets the password of somebody who is a user already. Otherwise they have to sign in to accept it.
  add column sets_password boolean not null default true;
`;
