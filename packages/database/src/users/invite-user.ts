import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { createInvitation, type Invitation } from './invitations.ts';
import { findUser } from './users.ts';

/** A new one-time link; its `token` is not stored. */
export interface CreatedInvitation extends Invitation {
  token: string;
  /** Whether the address belongs to a user, for whom the link sets a new password. */
  isUser: boolean;
}

/**
 * Creates an invitation, with audit. For an existing user the link sets a new password; role and account must be the same. To move a user,
 * remove them first, which ends their access immediately.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns null when the address belongs to a user of another account or role.
 */
export async function inviteUser(
  db: Knex,
  { email, role, accountId }: Invitation,
  actor: string,
  validForMs: number,
): Promise<CreatedInvitation | null> {
  return db.transaction(async (trx) => {
    const user = await findUser(trx, email);
    if (user && (user.role !== role || user.account_id !== accountId)) return null;
    const token = await createInvitation(trx, { email, role, accountId }, actor, validForMs);
    const details = { role, sets_new_password: user !== null };
    await recordAudit(trx, { accountId, actor, action: 'user_invited', subject: `user:${email}`, details });
    return { email, role, accountId, token, isUser: user !== null };
  });
}
