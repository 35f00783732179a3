import type { Knex } from 'knex';

/** A place where a user is signed in. */
export interface UserSession {
  session_id: string;
  created_at: Date;
  updated_at: Date;
  user_agent: string | null;
}

const MAX_SESSIONS = 100;
/** A browser may send 16 KiB. */
const MAX_USER_AGENT = 300;

/** Where a user is signed in, newest first, at most 100; of the user agent as much as names a browser. */
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

/** Ends one session of a user; false when there is no such one. */
export async function endSession(db: Knex, userId: string, sessionId: string): Promise<boolean> {
  return (await db('user_sessions').where({ id: sessionId, user_id: userId }).delete()) > 0;
}

/** Ends all sessions of a user, at once; returns how many there were. */
export async function endSessions(db: Knex, userId: string): Promise<number> {
  return db('user_sessions').where({ user_id: userId }).delete();
}
