import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
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

/** The pending invitations to an account, newest first, at most 500. */
export async function listPendingInvitations(db: Knex, accountId: number): Promise<PendingInvitation[]> {
  const found = await selectPending(db, { account_id: accountId }).orderBy('invitation_id', 'desc').limit(MAX_PENDING);
  return found.map(({ account_id: _, ...invitation }) => invitation as PendingInvitation);
}

/**
 * Withdraws pending invitations, with audit: their links stop working.
 *
 * @param which all of an address, all of an address to an account, or one of an account.
 * @returns the withdrawn ones.
 */
export async function withdrawInvitations(
  db: Knex,
  which: { email: string; account_id?: number } | { account_id: number; invitation_id: number },
  actor: string,
): Promise<Withdrawn[]> {
  return db.transaction(async (trx) => {
    const withdrawn = await selectPending(trx, which).orderBy('invitation_id').forUpdate();
    const ids = withdrawn.map(({ invitation_id }) => invitation_id);
    await trx('invitations').whereIn('invitation_id', ids).delete();
    const entries = withdrawn.map(({ account_id, email, role }) => ({
      accountId: account_id,
      actor,
      action: 'invitation_withdrawn',
      subject: `user:${email}`,
      details: { role: role ?? 'operator' },
    }));
    await recordAudit(trx, ...entries);
    return withdrawn;
  });
}

/** Without the links by which members set a new password. */
function selectPending(db: Knex, which: object): Knex.QueryBuilder<object, Withdrawn[]> {
  return db('invitations')
    .where(which)
    .whereNull('accepted_at')
    .where('expires_at', '>', db.fn.now())
    .whereNotExists((member) =>
      member
        .select(db.raw('1'))
        .from('memberships as m')
        .join('users as u', 'u.id', 'm.user_id')
        .whereRaw('u.email = invitations.email and m.account_id = invitations.account_id'),
    )
    .select('invitation_id', 'account_id', 'email', 'invited_by', 'created_at', 'expires_at')
    .select(db.raw("case when account_id is not null then coalesce(member_role, 'owner') end as role"));
}
