import type { Connection } from '@orders/database/run.ts';
import { findPasskeyUser } from '@orders/database/users/second-factors.ts';
import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import Joi from 'joi';
import { boundsAround, takeWithin, tooManyAttempts } from './attempt-bounds.ts';
import type { Auth } from './create-auth.ts';
import type { SignInRecord } from './record-sign-in.ts';

/** The response of a browser's authenticator; the library checks its parts. */
export type PasskeyResponse = NonNullable<
  Parameters<Auth['api']['verifyPasskeyAuthentication']>[0]
>['body']['response'];

export const passkeyResponse = Joi.object({
  // 1,023 bytes at most, as base64url.
  id: Joi.string().max(1364).required(),
  response: Joi.object().required(),
}).unknown();

const WINDOW_MS = 15 * 60_000;
/** Max challenges from one network. Each is a row for five minutes, and needs no session. */
const MAX_CHALLENGES = { narrow: 300, wide: 600, widest: 1200 };

/**
 * Starts a sign-in by passkey: its options for the browser, with a challenge that works once. With a session, only for the user's passkeys.
 *
 * @throws {Problem} `too_many_attempts`.
 */
export async function startPasskeySignIn({ auth, database }: { auth: Auth; database: Connection }, request: Request) {
  const bounds = boundsAround(request.ip ?? '', MAX_CHALLENGES, 'passkey challenges');
  const exceeded = await takeWithin(database, bounds, WINDOW_MS);
  if (exceeded) throw tooManyAttempts(exceeded.msLeft);
  const { headers, response } = await auth.api.generatePasskeyAuthenticationOptions({
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  // The library sets `preferred`.
  return { cookies: headers, options: { ...response, userVerification: 'required' as const } };
}

/**
 * Opens a session by a passkey. Failures are recorded if the passkey is known.
 *
 * @throws {Problem} `passkey_rejected`.
 */
export async function openPasskeySession(
  { auth, database, record }: { auth: Auth; database: Connection; record: SignInRecord },
  request: Request,
  passkey: PasskeyResponse,
): Promise<{ cookies: Headers; userId: string; email: string; sessionId: string }> {
  try {
    const { headers, response } = await auth.api.verifyPasskeyAuthentication({
      body: { response: passkey },
      headers: fromNodeHeaders(request.headers),
      returnHeaders: true,
    });
    const { user, session } = response;
    return { cookies: headers, userId: user.id, email: user.email, sessionId: session.id };
  } catch (error) {
    if (!isAPIError(error) || error.statusCode >= 500) throw error;
    const user = await findPasskeyUser(database, passkey.id);
    if (user) await record.failed(request, user.email);
    throw new Problem('passkey_rejected');
  }
}
