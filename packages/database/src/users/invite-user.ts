import { findLiveAccountId } from '../accounts/test-accounts.ts';
import { recordAudit } from '../audit.ts';
import { type Connection, inTransaction } from '../run.ts';
import { createInvitation, type Invitation } from './invitations.ts';
import type { MemberRole } from './memberships.ts';
import { withdrawInvitations } from './pending-invitations.ts';
import { findUser, type Role } from './users.ts';

/** A new one-time link; its `token` is not stored. */
export interface CreatedInvitation extends Invitation {
  token: string;
  /** Whether the address belongs to a user, for whom the link sets a new password. */
  setsNewPassword: boolean;
}

/** Why there is no link: the address belongs to a user of the other kind, or to a member with another role. */
export type InvitationRejection = 'other_kind' | 'other_role';

/**
 * Creates an operator's invitation, with audit. For an operator, and for a member of the account, the link sets a new password. Somebody who
 * is a user of other accounts signs in to accept it.
 *
 * @param invited.accountId of a test account, the link is to the account whose members it has.
 * @param invited.memberRole by default the role of the member, or owner.
 * @param validForMs validity of the link in milliseconds.
 */
export async function inviteUser(
  connection: Connection,
  invited: { email: string; role: Role; accountId: number | null; memberRole?: MemberRole | undefined },
  actor: string,
  validForMs: number,
): Promise<CreatedInvitation | InvitationRejection> {
  const { email, role } = invited;
  return inTransaction(connection, async (transaction) => {
    const accountId = invited.accountId === null ? null : await findLiveAccountId(transaction, invited.accountId);
    const user = await findUser(transaction, email);
    if (user && user.role !== role) return 'other_kind';
    const member = user?.memberships.find(({ account_id }) => account_id === accountId);
    if (member && invited.memberRole && member.role !== invited.memberRole) return 'other_role';
    const memberRole = accountId === null ? null : (invited.memberRole ?? member?.role ?? 'owner');
    const setsPassword = !user || role === 'operator' || member !== undefined;
    const invitation = { email, role, accountId, memberRole, setsPassword };
    const token = await createInvitation(transaction, invitation, actor, validForMs);
    const setsNewPassword = user !== null && setsPassword;
    const details = { role: memberRole ?? role, sets_new_password: setsNewPassword };
    await recordAudit(transaction, { accountId, actor, action: 'user_invited', subject: `user:${email}`, details });
    return { ...invitation, token, setsNewPassword };
  });
}

/**
 * Creates an owner's invitation to the account, with audit. It never sets the password of a user, who may belong to other accounts.
 *
 * @returns the token of the link, or null when the address belongs to a member already.
 */
export async function inviteMember(
  connection: Connection,
  { email, accountId, memberRole }: { email: string; accountId: number; memberRole: MemberRole },
  actor: string,
  validForMs: number,
): Promise<string | null> {
  return inTransaction(connection, async (transaction) => {
    const user = await findUser(transaction, email);
    if (user?.memberships.some(({ account_id }) => account_id === accountId)) return null;
    const invitation = { email, role: 'account_holder', accountId, memberRole, setsPassword: false } as const;
    const token = await createInvitation(transaction, invitation, actor, validForMs);
    const details = { role: memberRole, sets_new_password: false };
    await recordAudit(transaction, { accountId, actor, action: 'user_invited', subject: `user:${email}`, details });
    return token;
  });
}

/**
 * Invites the address of a pending invitation to the account again, with audit. The earlier link stops working.
 *
 * @returns the address and the token of the new link; `not_pending` when the account has no such pending invitation; `already_member` when
 * the address belongs to a member by now.
 */
export async function inviteAgain(
  connection: Connection,
  { accountId, invitationId }: { accountId: number; invitationId: number },
  actor: string,
  validForMs: number,
): Promise<{ email: string; token: string } | 'not_pending' | 'already_member'> {
  return inTransaction(connection, async (transaction) => {
    const which = { account_id: accountId, invitation_id: invitationId };
    const [pending] = await withdrawInvitations(transaction, which, actor);
    if (!pending?.role) return 'not_pending';
    const { email, role: memberRole } = pending;
    const token = await inviteMember(transaction, { email, accountId, memberRole }, actor, validForMs);
    return token === null ? 'already_member' : { email, token };
  });
}
