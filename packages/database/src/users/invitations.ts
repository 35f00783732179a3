import { randomUUID } from 'node:crypto';
import { type Connection, execute, INVITATION_LOCK, inTransaction, run } from '../run.ts';
import { deleteBindings } from './identities.ts';
import type { MemberRole } from './memberships.ts';
import { createToken, forgetRecentCodeAttempts, hashToken } from './one-time-codes.ts';
import { setPassword } from './passwords.ts';
import type { Role } from './users.ts';
import { proveAddress, recordOfUser } from './users.ts';

export interface Invitation {
  email: string;
  role: Role;
  /** Null for an operator. */
  accountId: number | null;
  /** The role in the account; null for an operator. */
  memberRole: MemberRole | null;
  /** Whether the link sets the password of somebody who is a user already. Otherwise they must sign in to accept it. */
  setsPassword: boolean;
}

/** By default the invitation of an owner, with a link that sets a password. */
export type NewInvitation = Omit<Invitation, 'memberRole' | 'setsPassword'> &
  Partial<Pick<Invitation, 'memberRole' | 'setsPassword'>>;

const COLUMNS = `
  email, role, account_id as "accountId", member_role as "memberRole", sets_password as "setsPassword"`;

/** SQL: the invitation whose token has the hash $1, if it can be accepted. */
const OPEN = 'token_hash = $1 and accepted_at is null and expires_at > now()';

/**
 * Creates an invitation, also for a user to set a new password. Deletes earlier open invitations of the address: if the new one sets a
 * password, those that set one, otherwise those to the same account that set none.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns the token of the one-time link, which is not stored.
 */
export async function createInvitation(
  connection: Connection,
  { email, role, accountId, memberRole, setsPassword = true }: NewInvitation,
  invitedBy: string,
  validForMs: number,
): Promise<string> {
  const token = createToken();
  const address = email.toLowerCase();
  await inTransaction(connection, async (transaction) => {
    await execute(
      transaction,
      `delete from invitations where email = $1 and sets_password = $2::boolean and accepted_at is null
         and ($2::boolean or account_id = $3)`,
      [address, setsPassword, accountId],
    );
    await execute(
      transaction,
      `insert into invitations (token_hash, email, role, account_id, member_role, sets_password, invited_by, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms')`,
      [
        hashToken(token),
        address,
        role,
        accountId,
        accountId === null ? null : (memberRole ?? 'owner'),
        setsPassword,
        invitedBy,
        validForMs,
      ],
    );
  });
  return token;
}

/** The invitation of a token, with the name of the user if there is one; null when the token is unknown, used or expired. */
export async function findInvitation(
  connection: Connection,
  token: string,
): Promise<(Invitation & { name: string | null }) | null> {
  const [row] = await run<Invitation & { name: string | null }>(
    connection,
    `select ${COLUMNS}, (select u.name from users u where u.email = invitations.email) from invitations where ${OPEN}`,
    [hashToken(token)],
  );
  return row ?? null;
}

/**
 * Uses an invitation once: creates its user, or sets the existing user's password, ends their sessions and the lock after wrong codes, and removes their bindings to
 * identity providers, and adds the membership. After a link that sets passwords, the others for the address that do so stop working.
 *
 * @param passwordHash in the authentication library's format.
 * @returns the invitation, and whether it made its user an operator; null when the token is unknown, used or expired; `sign_in` when it is
 * for a user, who must sign in to accept it; `other_kind` when it is for an operator and the address is a member's, or the reverse.
 */
export async function acceptInvitation(
  connection: Connection,
  token: string,
  name: string,
  passwordHash: string,
): Promise<(Invitation & { isNewOperator: boolean }) | 'sign_in' | 'other_kind' | null> {
  return inTransaction(connection, async (transaction) => {
    const invitation = await lockInvitation(transaction, token);
    if (!invitation) return null;
    const { email, role, setsPassword } = invitation;
    // Two invitations of an address can be accepted at once, and a user who does not exist yet cannot be locked.
    await execute(transaction, 'select pg_advisory_xact_lock($1, hashtext($2))', [INVITATION_LOCK, email]);
    const lock = 'select id, role from users where email = $1 for update';
    const [before] = await run<{ id: string; role: Role }>(transaction, lock, [email]);
    if (before && !setsPassword) return 'sign_in';
    if (before && before.role !== role) return 'other_kind';
    await markAccepted(transaction, token);
    const userId = before?.id ?? randomUUID();
    if (before) await execute(transaction, 'update users set name = $2 where id = $1', [userId, name]);
    // The owner who makes a link can also open it, so only an operator's link, which sets a password, proves the address.
    else
      await execute(
        transaction,
        'insert into users (id, name, email, email_verified, role) values ($1, $2, $3, $4, $5)',
        [userId, name, email, setsPassword, role],
      );
    await addMembership(transaction, userId, invitation);
    if (setsPassword) await proveAddress(transaction, userId);
    if ((await deleteBindings(transaction, userId)) > 0)
      await recordOfUser(transaction, email, { actor: email, action: 'identity_unbound' });
    await setPassword(transaction, userId, passwordHash);
    await forgetRecentCodeAttempts(transaction, userId);
    // By an operator's link the person can still prove the address after somebody else has opened an owner's link.
    if (setsPassword)
      await execute(transaction, 'delete from invitations where email = $1 and sets_password and accepted_at is null', [
        email,
      ]);
    return { ...invitation, isNewOperator: role === 'operator' && !before };
  });
}

/**
 * Uses an invitation to an account once, for a user who is signed in. A member keeps the role.
 *
 * @returns the invitation; null when the token is unknown, used, expired, or of an operator; `other_user` when it is for another address;
 * `operator` when the user is an operator, who cannot be a member.
 */
export async function joinAccount(
  connection: Connection,
  token: string,
  userId: string,
): Promise<Invitation | 'other_user' | 'operator' | null> {
  return inTransaction(connection, async (transaction) => {
    const invitation = await lockInvitation(transaction, token);
    if (!invitation || invitation.accountId === null) return null;
    const lock = 'select email, role from users where id = $1 for update';
    const [user] = await run<{ email: string; role: Role }>(transaction, lock, [userId]);
    if (user?.email !== invitation.email) return 'other_user';
    if (user.role === 'operator') return 'operator';
    await markAccepted(transaction, token);
    await addMembership(transaction, userId, invitation);
    return invitation;
  });
}

/** Somebody who is a member already keeps the role. */
async function addMembership(
  connection: Connection,
  userId: string,
  { accountId, memberRole }: Invitation,
): Promise<void> {
  if (accountId === null) return;
  await execute(
    connection,
    `insert into memberships (user_id, account_id, role) values ($1, $2, $3)
     on conflict (user_id, account_id) do nothing`,
    [userId, accountId, memberRole],
  );
}

async function lockInvitation(connection: Connection, token: string): Promise<Invitation | null> {
  const lock = `select ${COLUMNS} from invitations where ${OPEN} for update`;
  const [row] = await run<Invitation>(connection, lock, [hashToken(token)]);
  return row ?? null;
}

async function markAccepted(connection: Connection, token: string): Promise<void> {
  await execute(connection, `update invitations set accepted_at = now() where ${OPEN}`, [hashToken(token)]);
}
