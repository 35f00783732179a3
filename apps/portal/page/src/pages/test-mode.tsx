import { useQueryClient } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { SESSION_QUERY, useAccount, useOwnAccount, useSession } from '../api/session.ts';
import { useProblemText } from '../components/loaded.tsx';
import { useNotices } from '../components/notices.tsx';
import { Switch } from '../components/segments.tsx';
import { useAction } from '../components/use-action.ts';
import { samePage } from './pages.ts';

/**
 * Opens and leaves the test account of an account, on the same page of the portal. Only developers can use it before the account has one.
 */
export function TestSwitch({ accountId }: { accountId: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const { accounts } = useSession();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const textOf = useProblemText();
  const [location, navigate] = useLocation();
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
      navigate(
        `/accounts/${id}${samePage(location, (permission) => fresh?.permissions.includes(permission) ?? false)}`,
      );
    },
    onError: (error) => notices.show({ kind: 'bad', text: textOf(error) }),
  });
  if (!own || !(counterpart || own.permissions.includes('develop'))) return null;
  return (
    <Switch isOn={own.test_of !== null} isBusy={isPending} label={t('testMode.switch')} onClick={() => mutate()} />
  );
}

/** Says on each page of a test account that it is one. */
export function TestNote({ accountId }: { accountId: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const liveId = useAccount(accountId)?.test_of;
  if (!liveId) return null;
  return (
    <p className="note note-warn">
      <FlaskConical aria-hidden="true" size={16} />
      <span>
        {t('testMode.note')} <Link href={`/accounts/${liveId}/orders`}>{t('testMode.leave')}</Link>
      </span>
    </p>
  );
}
