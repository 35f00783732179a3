import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { createInvitation, type Invitation } from './invitations.ts';
import { findUser } from './users.ts';

/** A one-time link that was made; `token` is not stored and cannot be had again. */
export interface MadeInvitation extends Invitation {
  token: string;
  /** Somebody is a user by this address already: the link sets a new password. */
  isUser: boolean;
}

/**
 * Invites somebody, on record. Who is a user already gets a link that sets a new password, and can be invited to nothing else: to move
 * somebody, remove the user first, which ends their access at once.
 *
 * @param lastsMs how long the link can be used.
 * @returns null when the address belongs to a user of another account or role.
 */
export async function inviteUser(
  db: Knex,
  { email, role, accountId }: Invitation,
  actor: string,
  lastsMs: number,
): Promise<MadeInvitation | null> {
  return db.transaction(async (trx) => {
    const user = await findUser(trx, email);
    if (user && (user.role !== role || user.account_id !== accountId)) return null;
    const token = await createInvitation(trx, { email, role, accountId }, actor, lastsMs);
    const details = { role, sets_new_password: user !== null };
    await recordAudit(trx, { accountId, actor, action: 'user_invited', subject: `user:${email}`, details });
    return { email, role, accountId, token, isUser: user !== null };
  });
}
