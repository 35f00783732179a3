import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import { useOwnAccount } from './permissions.ts';

/** The name of an account; undefined while it loads and if there is no such account. */
export function useAccountName(accountId: number | undefined): string | undefined {
  const own = useOwnAccount(accountId);
  const query = useQuery({
    queryKey: ['account', accountId],
    queryFn: ({ signal }) => call<{ name: string }>('GET', `/accounts/${accountId}`, { signal }),
    enabled: accountId !== undefined && !own,
    staleTime: 60_000,
  });
  if (own) return own.name;
  return accountId === undefined ? undefined : query.data?.name;
}
