import { type Connection, execute, run } from '../run.ts';

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
export async function listSessions(connection: Connection, userId: string): Promise<UserSession[]> {
  return run<UserSession>(
    connection,
    `select id as session_id, created_at, updated_at, left(user_agent, ${MAX_USER_AGENT}) as user_agent
     from user_sessions where user_id = $1 and expires_at > now()
     order by created_at desc limit ${MAX_SESSIONS}`,
    [userId],
  );
}

/** Ends one session of a user. @returns false when there is no such session. */
export async function endSession(connection: Connection, userId: string, sessionId: string): Promise<boolean> {
  return (await execute(connection, `delete from ${ONE_SESSION}`, [sessionId, userId])) > 0;
}

const ONE_SESSION = 'user_sessions where id = $1 and user_id = $2';

/**
 * Serializes changes of a user's password, sessions and second factors until the end of the transaction. A session that another request opens
 * meanwhile waits too, because its foreign key needs the user.
 */
export async function lockUser(connection: Connection, userId: string): Promise<void> {
  await run(connection, 'select from users where id = $1 for update', [userId]);
}

/** Ends all sessions and challenges of a user. Must be called in a transaction. @returns the number of sessions. */
export async function endSessions(connection: Connection, userId: string): Promise<number> {
  await lockUser(connection, userId);
  // A challenge of the second step has the user's id as value, and one of a passkey has it in a JSON text.
  await execute(connection, 'delete from user_verifications where strpos(value, $1) > 0', [userId]);
  return execute(connection, 'delete from user_sessions where user_id = $1', [userId]);
}

/** Whether a session has not been ended. */
export async function hasSession(connection: Connection, userId: string, sessionId: string): Promise<boolean> {
  return (await run(connection, `select from ${ONE_SESSION}`, [sessionId, userId])).length > 0;
}

/** Ends the sessions of a user without a second factor, except one. */
export async function endWeakSessions(connection: Connection, userId: string, exceptSessionId: string): Promise<void> {
  await execute(connection, 'delete from user_sessions where user_id = $1 and not second_factor and id <> $2', [
    userId,
    exceptSessionId,
  ]);
}

/** Stores that the user of a session has just proved again who they are. @param secondFactor whether a second factor was part of that. */
export async function confirmSession(connection: Connection, sessionId: string, secondFactor: boolean): Promise<void> {
  await execute(
    connection,
    'update user_sessions set authenticated_at = now(), second_factor = second_factor or $2 where id = $1',
    [sessionId, secondFactor],
  );
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
export async function findOpenedSession(connection: Connection, token: string): Promise<OpenedSession | null> {
  const [session] = await run<OpenedSession>(
    connection,
    `select s.id as "sessionId", s.user_id as "userId", u.email, s.created_at as at, s.user_agent as "userAgent"
     from user_sessions s join users u on u.id = s.user_id where s.token = $1`,
    [token],
  );
  return session ?? null;
}
