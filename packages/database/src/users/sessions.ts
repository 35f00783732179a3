import type { Knex } from 'knex';

export interface UserSession {
  session_id: string;
  created_at: Date;
  updated_at: Date;
  user_agent: string | null;
}

const MAX_SESSIONS = 100;
/** Browsers can send up to 16 KiB. */
export const MAX_USER_AGENT = 300;

/** A user's active sessions, newest first, at most 100, with truncated user agents. */
export async function listSessions(db: Knex, userId: string): Promise<UserSession[]> {
  return db('user_sessions')
    .where({ user_id: userId })
    .where('expires_at', '>', db.fn.now())
    .orderBy('created_at', 'desc')
    .limit(MAX_SESSIONS)
    .select(
      'id as session_id',
      'created_at',
      'updated_at',
      db.raw(`left(user_agent, ${MAX_USER_AGENT}) as user_agent`),
    );
}

/** Ends one session of a user. @returns false when there is no such session. */
export async function endSession(db: Knex, userId: string, sessionId: string): Promise<boolean> {
  return (await db('user_sessions').where({ id: sessionId, user_id: userId }).delete()) > 0;
}

/**
 * Serializes changes of a user's password, sessions and second factors until the end of the transaction. A session that another request opens
 * meanwhile waits too, because its foreign key needs the user.
 */
export async function lockUser(trx: Knex, userId: string): Promise<void> {
  await trx('users').where({ id: userId }).forUpdate().select('id');
}

/** Ends all sessions and challenges of a user. Must be called in a transaction. @returns the number of sessions. */
export async function endSessions(trx: Knex, userId: string): Promise<number> {
  await lockUser(trx, userId);
  // A challenge of the second step has the user's id as value, and one of a passkey has it in a JSON text.
  await trx('user_verifications').whereRaw('strpos(value, ?) > 0', [userId]).delete();
  return trx('user_sessions').where({ user_id: userId }).delete();
}

/** Whether a session has not been ended. */
export async function hasSession(db: Knex, userId: string, sessionId: string): Promise<boolean> {
  return (await db('user_sessions').where({ id: sessionId, user_id: userId }).first('id')) !== undefined;
}

/** Ends the sessions of a user without a second factor, except one. */
export async function endWeakSessions(db: Knex, userId: string, exceptSessionId: string): Promise<void> {
  await db('user_sessions').where({ user_id: userId, second_factor: false }).whereNot({ id: exceptSessionId }).delete();
}

/** Stores that the user of a session has just proved again who they are. @param secondFactor whether a second factor was part of that. */
export async function confirmSession(db: Knex, sessionId: string, secondFactor: boolean): Promise<void> {
  await db('user_sessions')
    .where({ id: sessionId })
    .update({ authenticated_at: db.fn.now(), ...(secondFactor && { second_factor: true }) });
}

/** A session that was just opened. */
export interface OpenedSession {
  sessionId: string;
  userId: string;
  email: string;
  at: Date;
  userAgent: string | null;
}

/** The session of a token, or null. */
export async function findOpenedSession(db: Knex, token: string): Promise<OpenedSession | null> {
  const [session] = await db('user_sessions as s')
    .join('users as u', 'u.id', 's.user_id')
    .where({ token })
    .select('s.id as sessionId', 's.user_id as userId', 'u.email', 's.created_at as at', 's.user_agent as userAgent');
  return session ?? null;
}
