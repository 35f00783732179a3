import { forgetSignInAttempts, returnSignInAttempt, takeSignInAttempt } from '@orders/database';
import { Problem } from '@orders/domain';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { digestOf, networkOf } from './counter-keys.ts';
import type { SignInRecord } from './record-sign-in.ts';

const WINDOW_MS = 15 * 60_000;

/**
 * Max failures within the window. Repeated failures for an e-mail address lock out the guesser's network, not its owner; only failures from
 * many networks lock the address for all.
 */
const BOUNDS = { network: 50, emailFromNetwork: 10, email: 100 };

/**
 * Checks a password within the bounds. Attempts are counted before the check, so that concurrent ones cannot exceed the bounds, and
 * uncounted when the password is right. An attempt rejected for its network does not count for the address. Failures and lock-outs are
 * recorded.
 *
 * @param isRight whether the password is right.
 * @throws {Problem} `too_many_attempts`, or `wrong_credentials`.
 */
export async function tryPassword(
  { knex: db, record }: { knex: Knex; record: SignInRecord },
  request: Request,
  email: string,
  isRight: () => Promise<boolean>,
): Promise<void> {
  const prefix = networkOf(request.ip ?? '');
  const keys = {
    network: digestOf('network', prefix),
    emailFromNetwork: digestOf('email from network', email, prefix),
    email: digestOf('email', email),
  };
  for (const name of ['network', 'emailFromNetwork', 'email'] as const) {
    const { attempts, msLeft } = await takeSignInAttempt(db, keys[name], WINDOW_MS);
    if (attempts <= BOUNDS[name]) continue;
    if (attempts === BOUNDS[name] + 1) await record.lockedOut(request, email, name);
    const seconds = Math.max(Math.ceil(msLeft / 1000), 1);
    throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(seconds) } });
  }
  if (!(await isRight())) {
    await record.failed(request, email);
    throw new Problem('wrong_credentials');
  }
  await forgetSignInAttempts(db, keys.emailFromNetwork);
  // Only this attempt: signing in to one's own account must not reset the failures for other addresses.
  await returnSignInAttempt(db, keys.network);
  await returnSignInAttempt(db, keys.email);
}
