import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import { useSession } from './session.ts';

/** The name of an account; undefined while it loads and if there is no such account. */
export function useAccountName(accountId: number | undefined): string | undefined {
  const { account } = useSession();
  const isOwn = account !== null && account.account_id === accountId;
  const query = useQuery({
    queryKey: ['account', accountId],
    queryFn: ({ signal }) => call<{ name: string }>('GET', `/accounts/${accountId}`, { signal }),
    enabled: accountId !== undefined && !isOwn,
    staleTime: 60_000,
  });
  if (isOwn) return account.name;
  return accountId === undefined ? undefined : query.data?.name;
}
