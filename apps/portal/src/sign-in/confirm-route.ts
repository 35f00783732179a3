import { inTransaction } from '@orders/database/run.ts';
import { findPasswordHash } from '@orders/database/users/passwords.ts';
import { findSecondFactors, hasSecondFactor } from '@orders/database/users/second-factors.ts';
import { confirmSession, endSession } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordAboutSelf } from '../audit/record.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';
import { takeTotpCode, tryCode } from './check-code.ts';
import { openPasskeySession, type PasskeyResponse, passkeyResponse } from './passkeys.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import { recoveryCode, totpCode } from './second-step-routes.ts';
import type { Throttle } from './throttle-sign-in.ts';

interface Proof {
  password?: string;
  code?: string;
  recovery_code?: string;
  passkey?: PasskeyResponse;
}

/** Proves again who the user of the session is. It takes what signing in takes: a passkey, or the password and any second factor. */
export function confirmRoute(deps: PortalDeps, record: SignInRecord, throttle: Throttle): Router {
  const { auth, hasher, database } = deps;
  const router = Router();

  router.post('/session/confirm', async (request, response) => {
    const proof = bodyOf<Proof>(request, {
      password: Joi.string().max(128),
      code: totpCode,
      recovery_code: recoveryCode,
      passkey: passkeyResponse,
    });
    const { sessionId } = personOf(request);
    const secondFactor = proof.passkey
      ? await checkPasskey(request, proof.passkey)
      : await checkPassword(request, proof);
    await inTransaction(database, async (transaction) => {
      await confirmSession(transaction, sessionId, secondFactor);
      await recordAboutSelf(transaction, request, 'session_confirmed', { second_factor: secondFactor });
    });
    response.status(204).end();
  });

  /** @returns true: a passkey counts as both factors. */
  async function checkPasskey(request: Request, passkey: PasskeyResponse): Promise<true> {
    const opened = await openPasskeySession({ auth, database, record }, request, passkey);
    // The library opens a session for each passkey that it accepts. Its cookie is not sent.
    await endSession(database, opened.userId, opened.sessionId);
    const { userId, email } = personOf(request);
    if (opened.userId !== userId) {
      await record.failed(request, email);
      throw new Problem('passkey_rejected');
    }
    return true;
  }

  /** @returns whether the user has a second factor, which was checked then. */
  async function checkPassword(request: Request, proof: Proof): Promise<boolean> {
    const { password = '', code, recovery_code: recovery } = proof;
    const { userId, email } = personOf(request);
    const needsCode = hasSecondFactor(await findSecondFactors(database, userId));
    if (needsCode && (code === undefined) === (recovery === undefined)) {
      const detail = 'code or recovery_code is required';
      throw new Problem('invalid_request', { errors: [{ pointer: '/code', code: 'any_required', detail }] });
    }
    await throttle(request, email, async () => {
      const hash = await findPasswordHash(database, userId);
      return hash !== null && hasher.verify({ hash, password });
    });
    if (!needsCode) return false;
    const kind = code === undefined ? 'recovery codes' : 'codes';
    await tryCode({ database, record }, request, { user_id: userId, email }, kind, () =>
      code === undefined
        ? takeRecoveryCode(deps, request, recovery ?? '')
        : takeTotpCode({ ...deps, record }, userId, code),
    );
    if (code === undefined) await record.recoveryCodeUsed(email);
    return true;
  }

  return router;
}
