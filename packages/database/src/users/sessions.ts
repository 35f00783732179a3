import type { Knex } from 'knex';

export interface UserSession {
  session_id: string;
  created_at: Date;
  updated_at: Date;
  user_agent: string | null;
}

const MAX_SESSIONS = 100;
/** Browsers can send up to 16 KiB. */
const MAX_USER_AGENT = 300;

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

/** Ends all sessions of a user. @returns their number. */
export async function endSessions(db: Knex, userId: string): Promise<number> {
  return db('user_sessions').where({ user_id: userId }).delete();
}
