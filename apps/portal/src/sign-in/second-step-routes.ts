import { findChallengedUser, findPasskeyUser, hashRecoveryCode } from '@orders/database/users/second-factors.ts';
import { endSession } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';
import { forwardCookies } from '../require-session.ts';
import { takeTotpCode, tryCode } from './check-code.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { openPasskeySession, type PasskeyResponse, passkeyResponse, startPasskeySignIn } from './passkeys.ts';
import type { SignInRecord } from './record-sign-in.ts';

/** Of an authenticator app. */
export const totpCode = Joi.string().pattern(/^\d{6}$/);
export const recoveryCode = Joi.string().max(40);

/** Errors of the library after which no code can be right: the challenge is over. */
const CHALLENGE_OVER: ReadonlySet<unknown> = new Set([
  'INVALID_TWO_FACTOR_COOKIE',
  'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE',
]);

/** The second step of a sign-in by password, and the sign-in by passkey, which needs no first one. */
export function secondStepRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { auth, database } = deps;
  const router = Router();

  router.post('/session/second-factor', async (request, response) => {
    const { code, recovery_code } = bodyOf<{ code?: string; recovery_code?: string }>(request, {
      code: totpCode,
      recovery_code: recoveryCode,
    });
    if ((code === undefined) === (recovery_code === undefined)) throw new Problem('invalid_request');
    const challenge = await findChallenge(request);
    const user = challenge && (await findChallengedUser(database, challenge.identifier));
    if (!user) throw new Problem('sign_in_expired');
    const { headers } = challenge;
    let cookies = new Headers();
    const kind = code === undefined ? 'recovery codes' : 'codes';
    await tryCode({ database, record }, request, user, kind, async () => {
      if (code !== undefined && !(await takeTotpCode({ ...deps, record }, user.user_id, code))) return false;
      const found = await openByCode(headers, code, recovery_code);
      if (found) cookies = found;
      return found !== null;
    });
    if (recovery_code !== undefined) await record.recoveryCodeUsed(user.email);
    const method = code === undefined ? 'recovery_code' : 'code';
    await completeSignIn({ ...deps, record }, request, response, { method, cookies, secondStep: null });
  });
  router.post('/session/passkey/options', async (request, response) => {
    const { cookies, options } = await startPasskeySignIn(deps, request);
    forwardCookies(cookies, response);
    response.json(options);
  });
  router.post('/session/passkey', async (request, response) => {
    const { passkey } = bodyOf<{ passkey: PasskeyResponse }>(request, { passkey: passkeyResponse.required() });
    const { cookies, ...opened } = await openPasskeySession({ auth, database, record }, request, passkey);
    // It may have been removed meanwhile.
    if (!(await findPasskeyUser(database, passkey.id))) {
      await endSession(database, opened.userId, opened.sessionId);
      throw new Problem('passkey_rejected');
    }
    await completeSignIn({ ...deps, record }, request, response, { method: 'passkey', cookies, secondStep: null });
  });

  /** The challenge of the browser, and headers without its session: the library would check the code for that session's user. */
  async function findChallenge(request: Request): Promise<{ identifier: string; headers: Headers } | null> {
    const { createAuthCookie } = await auth.$context;
    const { name } = createAuthCookie('two_factor');
    const cookie = request.headers.cookie?.split(/; */).find((one) => one.startsWith(`${name}=`));
    if (cookie === undefined) return null;
    const headers = fromNodeHeaders(request.headers);
    headers.set('cookie', cookie);
    // The identifier is random, so its signature, which the library checks, is not needed to find it.
    return { identifier: cookie.slice(name.length + 1).split('.')[0] as string, headers };
  }

  /** @returns null when the code is wrong. */
  async function openByCode(headers: Headers, code?: string, recovery = ''): Promise<Headers | null> {
    try {
      const { headers: cookies } =
        code === undefined
          ? await auth.api.verifyBackupCode({
              body: { code: hashRecoveryCode(recovery) },
              headers,
              returnHeaders: true,
            })
          : await auth.api.verifyTOTP({ body: { code }, headers, returnHeaders: true });
      return cookies;
    } catch (error) {
      if (!isAPIError(error) || error.statusCode >= 500) throw error;
      if (CHALLENGE_OVER.has(error.body?.code)) throw new Problem('sign_in_expired');
      return null;
    }
  }

  return router;
}
