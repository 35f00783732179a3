import type { Connection } from '@orders/database/run.ts';
import { findSecondFactors, hasSecondFactor, type SecondFactors } from '@orders/database/users/second-factors.ts';
import { hasSession, lockUser } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { PortalConfig } from '../config.ts';
import type { Person } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { needsSecondFactor } from '../second-factor-policy.ts';
import { type SecondStep, stepsOf } from './open-session.ts';

/** What the page needs to know of a person's second factor. */
export interface SecondFactorState {
  required: boolean;
  /** Whether a second factor was part of the sign-in. */
  confirmed: boolean;
  /** What the person can confirm with; empty without a second factor. */
  steps: SecondStep[];
}

export async function describeSecondFactor(
  deps: Pick<PortalDeps, 'database' | 'config'>,
  person: Person,
): Promise<SecondFactorState> {
  const factors = await findSecondFactors(deps.database, person.userId);
  return {
    required: needsSecondFactor(person, deps.config),
    confirmed: person.hasProvedSecondFactor,
    steps: hasSecondFactor(factors) ? stepsOf(factors) : [],
  };
}

/**
 * Second factors are changed only with one of them: otherwise a stolen password could add another.
 *
 * @throws {Problem} `second_factor_required`, unless the person signed in with a second factor or has none.
 */
export async function requireOwnSecondFactor(
  database: Connection,
  { userId, hasProvedSecondFactor: confirmed }: Person,
): Promise<SecondFactors> {
  const factors = await findSecondFactors(database, userId);
  if (hasSecondFactor(factors) && !confirmed) throw new Problem('second_factor_required');
  return factors;
}

/**
 * Locks the signed-in user for a change of the password or of second factors.
 *
 * @throws {Problem} `not_signed_in` if the session ended since the request began, as when somebody else has set a new password.
 */
export async function lockSelf(transaction: Connection, { userId, sessionId }: Person): Promise<void> {
  await lockUser(transaction, userId);
  if (!(await hasSession(transaction, userId, sessionId))) throw new Problem('not_signed_in');
}

/** @throws {Problem} `last_second_factor` if a person who needs a second factor would have none left. */
export function keepRequiredFactor(config: PortalConfig, person: Person, { totp, passkeys }: SecondFactors): void {
  const left = passkeys.length + (totp ? 1 : 0) - 1;
  if (left === 0 && needsSecondFactor(person, config)) throw new Problem('last_second_factor');
}
