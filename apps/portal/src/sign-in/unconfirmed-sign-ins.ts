import { endSession, MAX_USER_AGENT } from '@orders/database/users/sessions.ts';
import type { Knex } from 'knex';

/** A sign-in from an unknown device that the user has not yet confirmed or denied. */
export interface UnconfirmedSignIn {
  session_id: string;
  at: Date;
  /** At most 300 characters. */
  user_agent: string | null;
  /** Whether the session that asks may say that it was the user. */
  can_confirm: boolean;
}

/** Max questions of a user: somebody who knows the password could sign in without end. */
const MAX_OF_USER = 20;

/** Stores a question to a user about a session, and keeps their newest 20. Must be called in a transaction. */
export async function askAboutSignIn(
  trx: Knex,
  { sessionId, userId, at, userAgent }: { sessionId: string; userId: string; at: Date; userAgent: string | null },
): Promise<void> {
  await trx('unconfirmed_sign_ins').insert({
    session_id: sessionId,
    user_id: userId,
    // By the same clock as the times of other sessions, with which it is compared.
    at,
    user_agent: userAgent?.slice(0, MAX_USER_AGENT) || null,
  });
  const outdated = trx('unconfirmed_sign_ins')
    .where({ user_id: userId })
    .orderBy('at', 'desc')
    .offset(MAX_OF_USER)
    .select('session_id');
  await trx('unconfirmed_sign_ins').whereIn('session_id', outdated).delete();
}

/**
 * Whether a session may confirm the sign-in `q`: it was opened before, or proved a second factor. Otherwise somebody with the password could
 * sign in twice, and confirm the first sign-in from the second.
 */
const CAN_CONFIRM = `exists (
  select from user_sessions s where s.id = ? and s.user_id = q.user_id and (s.second_factor or s.created_at < q.at))`;

/** The sign-ins that a user is asked about, newest first, at most 20. A session is not asked about itself. */
export async function listUnconfirmedSignIns(
  db: Knex,
  userId: string,
  ownSessionId: string,
): Promise<UnconfirmedSignIn[]> {
  return db('unconfirmed_sign_ins as q')
    .where({ user_id: userId })
    .whereNot({ session_id: ownSessionId })
    .orderBy('at', 'desc')
    .limit(MAX_OF_USER)
    .select('session_id', 'at', 'user_agent', db.raw(`${CAN_CONFIRM} as can_confirm`, [ownSessionId]));
}

/**
 * Stores the user's answer about a sign-in: a session that was not theirs is ended. Must be called in a transaction.
 *
 * @param ownSessionId the session that answers.
 * @returns false when the user is not asked about this session, or the session that answers may not confirm it.
 */
export async function settleSignIn(
  trx: Knex,
  {
    sessionId,
    ownSessionId,
    userId,
    wasUser,
  }: { sessionId: string; ownSessionId: string; userId: string; wasUser: boolean },
): Promise<boolean> {
  const question = trx('unconfirmed_sign_ins as q').where({ session_id: sessionId, user_id: userId });
  if (wasUser) question.whereRaw(CAN_CONFIRM, [ownSessionId]);
  const settled = await question.delete();
  if (settled === 0) return false;
  if (!wasUser) await endSession(trx, userId, sessionId);
  return true;
}
