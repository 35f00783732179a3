import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { call, isProblem } from './client.ts';

/** The signed-in user; an operator has no account. */
export interface Session {
  email: string;
  name: string;
  role: 'operator' | 'account_holder';
  account: { account_id: number; name: string } | null;
  /** Intake's public URL. */
  intake_url: string;
}

/** The session, or null without one. */
export const SESSION_QUERY = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await call<Session>('GET', '/session', { signal });
    } catch (error) {
      if (isProblem(error, 'not_signed_in')) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  refetchOnWindowFocus: true,
});

export function useSessionQuery(): UseQueryResult<Session | null> {
  return useQuery(SESSION_QUERY);
}

export const SessionContext = createContext<Session | null>(null);

/** The session; only inside `SessionContext`. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('used outside of the sign-in');
  return session;
}

export const AccountContext = createContext<number | null>(null);

/** The account of the page; only inside `AccountContext`. */
export function useAccountId(): number {
  const accountId = useContext(AccountContext);
  if (accountId === null) throw new Error('used outside of an account');
  return accountId;
}
