import { createOTP } from '@better-auth/utils/otp';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import {
  findSecondFactors,
  findTotp,
  finishTotp,
  removePasskey,
  removeTotp,
  startTotp,
} from '@orders/database/users/second-factors.ts';
import { confirmSession, endWeakSessions, lockUser } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { generateRandomString, symmetricEncrypt } from 'better-auth/crypto';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import { recordAboutSelf } from '../audit/record.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { bodyOf, plainText, textIdOf } from '../read-request.ts';
import { forwardCookies } from '../require-session.ts';
import { needsSecondFactor } from '../second-factor-policy.ts';
import { findTimeStep, tryCode } from './check-code.ts';
import { type PasskeyResponse, passkeyResponse } from './passkeys.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { ensureRecoveryCodes, renewRecoveryCodes } from './recovery-codes.ts';
import { TOTP } from './second-factor-plugins.ts';
import { keepRequiredFactor, lockSelf, requireOwnSecondFactor } from './second-factor-state.ts';
import { totpCode } from './second-step-routes.ts';

const MAX_PASSKEYS = 20;
/** Characters of an app's secret, with more bits in all than the SHA-1 of its codes. */
const SECRET_LENGTH = 32;

/** The signed-in user's passkeys, authenticator app and recovery codes. */
export function secondFactorRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { auth, database, config } = deps;
  const router = Router();

  router.get('/second-factors', async (request, response) => {
    const person = personOf(request);
    const factors = await findSecondFactors(database, person.userId);
    response.json({ ...factors, required: needsSecondFactor(person, config) });
  });

  router.post('/second-factors/passkeys/options', async (request, response) => {
    const { passkeys } = await requireOwnSecondFactor(database, personOf(request));
    if (passkeys.length >= MAX_PASSKEYS) throw new Problem('too_many_passkeys');
    const { headers, response: options } = await auth.api.generatePasskeyRegistrationOptions({
      headers: fromNodeHeaders(request.headers),
      returnHeaders: true,
    });
    forwardCookies(headers, response);
    response.json(options);
  });
  router.post('/second-factors/passkeys', async (request, response) => {
    const { name, passkey } = bodyOf<{ name: string; passkey: PasskeyResponse }>(request, {
      name: plainText(100).trim().required(),
      passkey: passkeyResponse.required(),
    });
    const person = personOf(request);
    const { passkeys } = await requireOwnSecondFactor(database, person);
    if (passkeys.length >= MAX_PASSKEYS) throw new Problem('too_many_passkeys');
    const passkeyId = await registerPasskey(request, name, passkey);
    let codes: string[] | null;
    try {
      codes = await add(request, 'passkey');
    } catch (error) {
      // The library has stored it already.
      await inTransaction(database, async (transaction) => {
        await lockUser(transaction, person.userId);
        await removePasskey(transaction, person.userId, passkeyId);
      });
      throw error;
    }
    response.status(201).json({ passkey_id: passkeyId, recovery_codes: codes });
  });
  router.delete('/second-factors/passkeys/:passkeyId', async (request, response) => {
    const id = textIdOf(request.params.passkeyId);
    await remove(
      request,
      'passkey',
      async (transaction, userId) => id !== null && removePasskey(transaction, userId, id),
    );
    response.status(204).end();
  });

  // Until its code is verified, an earlier app stays in use.
  router.post('/second-factors/totp', async (request, response) => {
    const { userId, email } = personOf(request);
    await requireOwnSecondFactor(database, personOf(request));
    const { secretConfig } = await auth.$context;
    const secret = generateRandomString(SECRET_LENGTH);
    await startTotp(database, userId, await symmetricEncrypt({ key: secretConfig, data: secret }));
    response.json({ uri: createOTP(secret, TOTP).url('Orders', email) });
  });
  router.post('/second-factors/totp/verify', async (request, response) => {
    const { code } = bodyOf<{ code: string }>(request, { code: totpCode.required() });
    const person = personOf(request);
    await requireOwnSecondFactor(database, person);
    const { pending } = await findTotp(database, person.userId);
    if (pending === null) throw new Problem('second_factor_not_found');
    const owner = { user_id: person.userId, email: person.email };
    let step: number | null = null;
    await tryCode({ database, record }, request, owner, 'codes', async () => {
      step = await findTimeStep(auth, pending, code);
      return step !== null;
    });
    const codes = await add(request, 'totp', async (transaction) => {
      if (step === null || !(await finishTotp(transaction, person.userId, pending, step)))
        throw new Problem('wrong_code');
    });
    response.json({ recovery_codes: codes });
  });
  router.delete('/second-factors/totp', async (request, response) => {
    await remove(request, 'totp', removeTotp);
    response.status(204).end();
  });

  router.post('/second-factors/recovery-codes', async (request, response) => {
    const person = personOf(request);
    const { totp, passkeys } = await requireOwnSecondFactor(database, person);
    if (!totp && passkeys.length === 0) throw new Problem('second_factor_not_found');
    const codes = await inTransaction(database, async (transaction) => {
      await lockSelf(transaction, person);
      await recordAboutSelf(transaction, request, 'recovery_codes_renewed');
      return renewRecoveryCodes(transaction, person.userId);
    });
    response.json({ recovery_codes: codes });
  });

  /** @returns the id of the new passkey. @throws {Problem} `passkey_rejected`. */
  async function registerPasskey(request: Request, name: string, passkey: PasskeyResponse): Promise<string> {
    try {
      const registered = await auth.api.verifyPasskeyRegistration({
        body: { name, response: passkey },
        headers: fromNodeHeaders(request.headers),
      });
      return registered.id;
    } catch (error) {
      if (isAPIError(error)) throw new Problem('passkey_rejected');
      throw error;
    }
  }

  /** Adding a factor proves it for this session; other sessions without one end. @returns recovery codes, unless the user has some. */
  async function add(
    request: Request,
    factor: 'passkey' | 'totp',
    store?: (transaction: Connection) => Promise<void>,
  ): Promise<string[] | null> {
    const person = personOf(request);
    const { userId, sessionId, email } = person;
    const codes = await inTransaction(database, async (transaction) => {
      await lockSelf(transaction, person);
      await store?.(transaction);
      const codes = await ensureRecoveryCodes(transaction, userId);
      await confirmSession(transaction, sessionId, true);
      await endWeakSessions(transaction, userId, sessionId);
      await recordAboutSelf(transaction, request, 'second_factor_added', { factor });
      return codes;
    });
    notifySecurityChange(deps, { email }, 'second_factor_added');
    return codes;
  }

  async function remove(
    request: Request,
    factor: 'passkey' | 'totp',
    work: (transaction: Connection, userId: string) => Promise<boolean>,
  ): Promise<void> {
    const person = personOf(request);
    await inTransaction(database, async (transaction) => {
      await lockSelf(transaction, person);
      const factors = await requireOwnSecondFactor(transaction, person);
      if (!(await work(transaction, person.userId))) throw new Problem('second_factor_not_found');
      keepRequiredFactor(config, person, factors);
      await recordAboutSelf(transaction, request, 'second_factor_removed', { factor });
    });
    notifySecurityChange(deps, person, 'second_factor_removed');
  }

  return router;
}
