import { recordAudit } from '../audit.ts';
import { type Connection, execute, inTransaction, matching, run } from '../run.ts';
import type { MemberRole } from './memberships.ts';

/** An invitation to an account that nobody has accepted yet and that still works. */
export interface PendingInvitation {
  invitation_id: number;
  email: string;
  /** The role in the account. */
  role: MemberRole;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

/** Account and role are null in an invitation to be operator. */
type Withdrawn = Omit<PendingInvitation, 'role'> & { account_id: number | null; role: MemberRole | null };

const MAX_PENDING = 500;

/** SQL: pending invitations, without the links by which members set a new password. */
const PENDING = `
select invitation_id, account_id, email, invited_by, created_at, expires_at,
       case when account_id is not null then coalesce(member_role, 'owner') end as role
from invitations
where accepted_at is null and expires_at > now() and not exists (
  select from memberships m join users u on u.id = m.user_id
  where u.email = invitations.email and m.account_id = invitations.account_id
)`;

/** The pending invitations to an account, newest first, at most 500. */
export async function listPendingInvitations(connection: Connection, accountId: number): Promise<PendingInvitation[]> {
  const list = `${PENDING} and account_id = $1 order by invitation_id desc limit ${MAX_PENDING}`;
  const found = await run<PendingInvitation & Pick<Withdrawn, 'account_id'>>(connection, list, [accountId]);
  return found.map(({ account_id: _, ...invitation }) => invitation);
}

/**
 * Withdraws pending invitations, with audit: their links stop working.
 *
 * @param which all of an address, all of an address to an account, or one of an account.
 * @returns the withdrawn ones.
 */
export async function withdrawInvitations(
  connection: Connection,
  which: { email: string; account_id?: number } | { account_id: number; invitation_id: number },
  actor: string,
): Promise<Withdrawn[]> {
  const { email, account_id: accountId, invitation_id: id } = { email: undefined, invitation_id: undefined, ...which };
  return inTransaction(connection, async (transaction) => {
    const values: unknown[] = [];
    const filter = matching(values, { 'email = ?': email, 'account_id = ?': accountId, 'invitation_id = ?': id });
    const lock = `${PENDING} and ${filter} order by invitation_id for update`;
    const withdrawn = await run<Withdrawn>(transaction, lock, values);
    const ids = withdrawn.map(({ invitation_id }) => invitation_id);
    await execute(transaction, 'delete from invitations where invitation_id = any($1)', [ids]);
    const entries = withdrawn.map(({ account_id, email: address, role }) => ({
      accountId: account_id,
      actor,
      action: 'invitation_withdrawn',
      subject: `user:${address}`,
      details: { role: role ?? 'operator' },
    }));
    await recordAudit(transaction, ...entries);
    return withdrawn;
  });
}
