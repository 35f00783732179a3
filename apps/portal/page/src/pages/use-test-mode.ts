import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { type Can, SESSION_QUERY, useOwnAccount, useSession } from '../api/session.ts';
import { useAction } from '../components/use-action.ts';
import { useShowProblem } from '../components/use-show-problem.ts';

/**
 * Opens and leaves the test account of an account. Only developers can open it before the account has one.
 *
 * @param pathFor the page to go to, below the other account, in which the user has these permissions.
 * @returns null if the user cannot.
 */
export function useTestMode(
  accountId: number | undefined,
  pathFor: (can: Can) => string,
): { isOn: boolean; isBusy: boolean; toggle: () => void } | null {
  const { accounts } = useSession();
  const queryClient = useQueryClient();
  const showProblem = useShowProblem();
  const [, navigate] = useLocation();
  const own = useOwnAccount(accountId);
  const counterpart = accounts.find(({ account_id, test_of }) =>
    own?.test_of ? account_id === own.test_of : test_of === own?.account_id,
  );
  const { mutate, isPending } = useAction({
    mutationFn: async () => {
      const opened = counterpart ?? (await call<{ account_id: number }>('POST', `/accounts/${accountId}/test-account`));
      if (!counterpart) await queryClient.refetchQueries(SESSION_QUERY, { throwOnError: true });
      return opened.account_id;
    },
    onSuccess: (id) => {
      const fresh = queryClient
        .getQueryData(SESSION_QUERY.queryKey)
        ?.accounts.find(({ account_id }) => account_id === id);
      navigate(`/accounts/${id}${pathFor((permission) => fresh?.permissions.includes(permission) ?? false)}`);
    },
    onError: showProblem,
  });
  if (!own || !(counterpart || own.permissions.includes('develop'))) return null;
  return { isOn: own.test_of !== null, isBusy: isPending, toggle: () => mutate() };
}
