import { type Connection, execute, run } from '@orders/database/run.ts';
import { endSession, MAX_USER_AGENT } from '@orders/database/users/sessions.ts';

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
  connection: Connection,
  { sessionId, userId, at, userAgent }: { sessionId: string; userId: string; at: Date; userAgent: string | null },
): Promise<void> {
  // `at` is by the same clock as the times of other sessions, with which it is compared.
  await execute(
    connection,
    'insert into unconfirmed_sign_ins (session_id, user_id, at, user_agent) values ($1, $2, $3, $4)',
    [sessionId, userId, at, userAgent?.slice(0, MAX_USER_AGENT) || null],
  );
  await execute(
    connection,
    `delete from unconfirmed_sign_ins where session_id in (
       select session_id from unconfirmed_sign_ins where user_id = $1 order by at desc offset ${MAX_OF_USER}
     )`,
    [userId],
  );
}

/**
 * Whether a session may confirm the sign-in `q`: it was opened before, or proved a second factor. Otherwise somebody with the password could
 * sign in twice, and confirm the first sign-in from the second.
 */
const CAN_CONFIRM = `exists (
  select from user_sessions s where s.id = $2 and s.user_id = q.user_id and (s.second_factor or s.created_at < q.at))`;

/** The sign-ins that a user is asked about, newest first, at most 20. A session is not asked about itself. */
export async function listUnconfirmedSignIns(
  connection: Connection,
  userId: string,
  ownSessionId: string,
): Promise<UnconfirmedSignIn[]> {
  return run<UnconfirmedSignIn>(
    connection,
    `select session_id, at, user_agent, ${CAN_CONFIRM} as can_confirm from unconfirmed_sign_ins q
     where user_id = $1 and session_id <> $2 order by at desc limit ${MAX_OF_USER}`,
    [userId, ownSessionId],
  );
}

/**
 * Stores the user's answer about a sign-in: a session that was not theirs is ended. Must be called in a transaction.
 *
 * @param ownSessionId the session that answers.
 * @returns false when the user is not asked about this session, or the session that answers may not confirm it.
 */
export async function settleSignIn(
  connection: Connection,
  answer: { sessionId: string; ownSessionId: string; userId: string; wasUser: boolean },
): Promise<boolean> {
  const { sessionId, ownSessionId, userId, wasUser } = answer;
  const settled = await execute(
    connection,
    `delete from unconfirmed_sign_ins q where user_id = $1 and session_id = $3 and (not $4::boolean or ${CAN_CONFIRM})`,
    [userId, ownSessionId, sessionId, wasUser],
  );
  if (settled === 0) return false;
  if (!wasUser) await endSession(connection, userId, sessionId);
  return true;
}
