import type { Knex } from 'knex';
import { recordOfUser } from './record-of-user.ts';
import { endSessions } from './sessions.ts';

/**
 * Notes that a user has shown that the e-mail address is theirs. Somebody else may have opened the link by which an owner of an account
 * invited them. So the first time, all ways to sign in that were set up before are removed, with all sessions and with audit. Must be called
 * in a transaction.
 */
export async function proveAddress(trx: Knex, userId: string): Promise<void> {
  const [user] = await trx('users')
    .where({ id: userId, email_verified: false })
    .update({ email_verified: true, two_factor_enabled: false })
    .returning('email');
  if (!user) return;
  await trx('user_credentials').where({ user_id: userId }).delete();
  await trx('user_passkeys').where({ user_id: userId }).delete();
  await trx('user_second_factors').where({ user_id: userId }).delete();
  await trx('user_verifications').where({ value: userId }).delete();
  await endSessions(trx, userId);
  await recordOfUser(trx, user.email, { actor: user.email, action: 'earlier_credentials_removed' });
}
