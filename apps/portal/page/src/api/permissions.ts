import { type Permission, type SessionAccount, useAccountId, useSession } from './session.ts';

const OPERATOR: readonly Permission[] = ['read', 'review', 'develop', 'manage', 'operate'];
const NONE: readonly Permission[] = [];

/** Whether the user has any of these permissions. */
export type Can = (...anyOf: Permission[]) => boolean;

/** The user's own account with this id; undefined for operators and for other accounts. */
export function useOwnAccount(accountId: number | undefined): SessionAccount | undefined {
  return useSession().accounts.find(({ account_id }) => account_id === accountId);
}

/** What the user may do in an account. */
export function useCanIn(accountId: number | undefined): Can {
  const { role } = useSession();
  const own = useOwnAccount(accountId);
  const permissions = role === 'operator' ? OPERATOR : (own?.permissions ?? NONE);
  return (...anyOf) => anyOf.some((permission) => permissions.includes(permission));
}

/** What the user may do in the account of the page. The page offers nothing else; the service checks each request again. */
export function useCan(): Can {
  return useCanIn(useAccountId());
}
