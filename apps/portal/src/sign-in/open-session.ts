import { type Connection, inTransaction } from '@orders/database/run.ts';
import { type Credential, findCredential, replacePasswordHash } from '@orders/database/users/passwords.ts';
import { findSecondFactors, type SecondFactors } from '@orders/database/users/second-factors.ts';
import { endSession, findOpenedSession, lockUser } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import Joi from 'joi';
import type { Person } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { type Auth, PASSWORD_LENGTH } from './create-auth.ts';

const { minPasswordLength, maxPasswordLength } = PASSWORD_LENGTH;

/** Schema of a new password. Its characters are counted after the normalization with which they are hashed. `checkNewPassword` checks the rest. */
export const newPassword = Joi.string()
  .max(maxPasswordLength)
  .custom((text: string, helpers) =>
    [...text.normalize('NFKC')].length < minPasswordLength
      ? helpers.error('string.min', { limit: minPasswordLength })
      : text,
  )
  .required();

/** What a user can give as second step of a sign-in. */
export type SecondStep = 'passkey' | 'code' | 'recovery_code';

/** A step of a sign-in. */
export interface SignInStep {
  /** Headers with the cookie of the session or, with `secondStep`, of the challenge. */
  cookies: Headers;
  /** Set for a user with a second factor: there is no session yet. */
  secondStep: SecondStep[] | null;
}

/**
 * Opens a session by a password or, for a user with a second factor, a challenge for it. An unknown address takes as long as a known one.
 *
 * @throws an error of the library, with a status below 500 if the address or the password is wrong.
 * @throws {Problem} `wrong_credentials` if another password was set meanwhile.
 */
export async function openSession(
  { auth, database }: Pick<PortalDeps, 'auth' | 'database'>,
  request: Request,
  email: string,
  password: string,
): Promise<SignInStep> {
  const before = await findCredential(database, { email });
  const { headers: cookies, response } = await auth.api.signInEmail({
    body: { email, password },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  const token = 'twoFactorRedirect' in response ? null : response.token;
  if (!before || !(await isCurrent(database, before))) {
    // The browser does not get the cookie of a challenge either.
    const session = token === null ? null : await findOpenedSession(database, token);
    if (session) await endSession(database, session.userId, session.sessionId);
    throw new Problem('wrong_credentials');
  }
  return { cookies, secondStep: token === null ? stepsOf(await findSecondFactors(database, before.userId)) : null };
}

/** Whether a password is still the user's. Waits for a change that is being made. */
function isCurrent(database: Connection, { userId, credentialId }: Credential): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await lockUser(transaction, userId);
    return (await findCredential(transaction, { userId }))?.credentialId === credentialId;
  });
}

/** The second steps that a user can take. */
export function stepsOf({ totp, passkeys, recovery_codes }: SecondFactors): SecondStep[] {
  return [
    ...(passkeys.length > 0 ? (['passkey'] as const) : []),
    ...(totp ? (['code'] as const) : []),
    ...(recovery_codes > 0 ? (['recovery_code'] as const) : []),
  ];
}

/**
 * Opens a session for a user who has just given the password and whose sessions have ended. A user with a second factor has not proved it
 * again, so the time of the last proof stays.
 *
 * @returns headers with the cookie of the session.
 */
export async function replaceSession(
  auth: Auth,
  request: Request,
  { userId, authenticatedAt, hasProvedSecondFactor }: Person,
): Promise<Headers> {
  const { headers } = await auth.api.openProvenSession({
    body: { userId, hasProvedSecondFactor, authenticatedAt: hasProvedSecondFactor ? authenticatedAt : new Date() },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  return headers;
}

/** Replaces the hash of a password that was right just now, if it is cheaper to guess than new ones. */
export async function rehashPassword(
  { database, hasher }: Pick<PortalDeps, 'database' | 'hasher'>,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const credential = await findCredential(database, { email });
  if (credential && hasher.needsRehash(credential.passwordHash))
    await replacePasswordHash(database, credential, await hasher.hash(password));
}
