import { timingSafeEqual } from 'node:crypto';
import { createOTP } from '@better-auth/utils/otp';
import { type CodeKind, codeCounterKeys, forgetCodeAttempts } from '@orders/database/users/one-time-codes.ts';
import { findTotp, takeTimeStep } from '@orders/database/users/second-factors.ts';
import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { Problem } from '@orders/domain/problems.ts';
import { symmetricDecrypt } from 'better-auth/crypto';
import type { Request } from 'express';
import type { PortalDeps } from '../deps.ts';
import { tooManyAttempts } from './attempt-bounds.ts';
import type { Auth } from './create-auth.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { TOTP } from './second-factor-plugins.ts';

/**
 * Max failures of one user and one kind, from all networks: only somebody who has the password, or an open session, can make them. Three of a
 * million codes of an app are right: the one of now and its neighbors in time.
 */
const BOUNDS = {
  short: { failures: 10, windowMs: 15 * 60_000 },
  day: { failures: 50, windowMs: 24 * 3_600_000 },
};

/** Whose code is checked. */
export interface CodeOwner {
  user_id: string;
  email: string;
}

export type CodeDeps = Pick<PortalDeps, 'database' | 'auth'> & { record: SignInRecord };

/**
 * Checks a code within the bounds. Attempts are counted before the check, so that concurrent ones cannot exceed the bounds, and forgotten
 * when the code is right. Failures are recorded.
 *
 * @throws {Problem} `too_many_attempts`, or `wrong_code`.
 */
export async function tryCode(
  { database, record }: Pick<CodeDeps, 'database' | 'record'>,
  request: Request,
  { user_id, email }: CodeOwner,
  kind: CodeKind,
  isRight: () => Promise<boolean>,
): Promise<void> {
  const keys = codeCounterKeys(kind, user_id);
  for (const span of ['short', 'day'] as const) {
    const { failures, windowMs } = BOUNDS[span];
    const { attempts, msLeft } = await takeSignInAttempt(database, keys[span], windowMs);
    if (attempts <= failures) continue;
    if (attempts === failures + 1) await record.codesLocked(request, email);
    throw tooManyAttempts(msLeft);
  }
  if (!(await isRight())) {
    await record.codeFailed(request, email);
    throw new Problem('wrong_code');
  }
  await forgetCodeAttempts(database, user_id);
}

/** Uses up a code of the user's authenticator app. @returns false when it is wrong or was used before. */
export async function takeTotpCode({ database, auth }: CodeDeps, userId: string, code: string): Promise<boolean> {
  const { secret } = await findTotp(database, userId);
  const step = secret === null ? null : await findTimeStep(auth, secret, code);
  return step !== null && takeTimeStep(database, userId, step);
}

/**
 * The time step of a code, of now or its neighbors; null when the code is wrong.
 *
 * @param secret encrypted.
 * @throws {Error} when no key decrypts the secret.
 */
export async function findTimeStep(auth: Auth, secret: string, code: string): Promise<number | null> {
  const { secretConfig } = await auth.$context;
  const otp = createOTP(await symmetricDecrypt({ key: secretConfig, data: secret }), TOTP);
  const now = Math.floor(Date.now() / 1000 / TOTP.period);
  for (const step of [now - 1, now, now + 1]) {
    if (isSame(await otp.hotp(step), code)) return step;
  }
  return null;
}

function isSame(expected: string, code: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(code)];
  return a.length === b.length && timingSafeEqual(a, b);
}
