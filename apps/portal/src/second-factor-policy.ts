import type { AccountState } from '@orders/database/users/memberships.ts';
import type { PortalConfig } from './config.ts';
import type { Person } from './context.ts';

/**
 * Whether a second factor is still to be proved: it is required, or the person has one, and the identity provider did not ask for any.
 *
 * @param account the account that the request concerns; null if none.
 */
export function lacksSecondFactor(person: Person, account: AccountState | null, config: PortalConfig): boolean {
  if (person.hasProvedSecondFactor) return false;
  return person.hasUnprovedSecondFactor || requiresSecondFactor(person, account, config);
}

function requiresSecondFactor(
  { role }: Person,
  account: AccountState | null,
  { OPERATOR_SECOND_FACTOR }: PortalConfig,
): boolean {
  if (role === 'operator') return OPERATOR_SECOND_FACTOR === 'required';
  return account?.isSecondFactorRequired === true;
}

/** Whether a person needs a second factor anywhere, and so must keep one. */
export function needsSecondFactor(person: Person, config: PortalConfig): boolean {
  const accounts = person.role === 'operator' ? [null] : person.memberships;
  return accounts.some((account) => requiresSecondFactor(person, account, config));
}
