import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import { call } from '../../api/client.ts';
import type { InvitationLink, UserPage, UserRow } from '../../api/operator.ts';
import { useSession } from '../../api/session.ts';
import { Confirm } from '../../components/confirm.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import { InviteForm } from './invite-form.tsx';
import { LinkDialog } from './link-dialog.tsx';
import '../../components/data-table.css';
import './operator.css';

type UserAction = { what: 'link' | 'sessions' | 'remove'; user: UserRow };

/** The users of all accounts, or of one. */
export function UsersPage(): ReactNode {
  const { t } = useTranslation('operator');
  const account = new URLSearchParams(useSearch()).get('account');
  const queryClient = useQueryClient();
  const [confirming, setConfirming] = useState<UserAction | null>(null);
  const [link, setLink] = useState<InvitationLink | null>(null);
  const users = useInfiniteQuery({
    queryKey: ['operator', 'users', account],
    queryFn: ({ pageParam, signal }) =>
      call<UserPage>('GET', '/operator/users', { query: { account_id: account, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const found = users.data?.pages.flatMap((page) => page.users) ?? [];
  const act = async ({ what, user }: UserAction) => {
    const { user_id, email, account_id } = user;
    if (what === 'link') setLink(await call('POST', '/operator/users', { body: { email, account_id } }));
    else await call('DELETE', `/operator/users/${user_id}${what === 'sessions' ? '/sessions' : ''}`);
    await queryClient.invalidateQueries({ queryKey: ['operator'] });
  };
  return (
    <div className="stack">
      <PageHeader title={t('users.title')} about={t('users.about')}>
        <HelpLink page="users" />
      </PageHeader>
      <InviteForm key={account} account={account} onInvited={setLink} />
      {account !== null && (
        <p className="row">
          {t('users.ofAccount', { id: account })} <Link href="/operator/users">{t('users.all')}</Link>
        </p>
      )}
      {users.isError && <ProblemNote error={users.error} retry={() => void users.refetch()} />}
      {users.isPending && <Skeleton shape="rows" count={6} />}
      {users.isSuccess && found.length === 0 && <EmptyState title={t('users.none')} text={t('users.noneAbout')} />}
      {found.length > 0 && <UserTable users={found} onAsk={setConfirming} />}
      {users.hasNextPage && (
        <button type="button" className="button more-button" onClick={() => void users.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
      {confirming && (
        <Confirm
          title={t(`users.${confirming.what}`)}
          text={t(`users.${confirming.what}Ask`, { email: confirming.user.email })}
          label={t(`users.${confirming.what}`)}
          action={() => act(confirming)}
          onClose={() => setConfirming(null)}
        />
      )}
      {link && <LinkDialog link={link} onClose={() => setLink(null)} />}
    </div>
  );
}

function UserTable({ users, onAsk }: { users: UserRow[]; onAsk: (confirming: UserAction) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const { email: own } = useSession();
  return (
    <div className="card table-card">
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">{t('users.who')}</th>
            <th scope="col">{t('users.role')}</th>
            <th scope="col">{t('users.lastSignedIn')}</th>
            <th scope="col">
              <span className="visually-hidden">{t('users.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.user_id}>
              <th scope="row">
                <bdi>{user.name}</bdi>
                <p className="hint">
                  <bdi dir="ltr">{user.email}</bdi>
                </p>
              </th>
              <td data-label={t('users.role')}>
                {user.account_id === null ? (
                  <span className="badge">{t('users.operator')}</span>
                ) : (
                  <Link href={`/operator/users?account=${user.account_id}`}>
                    {t('users.holderOf', { id: user.account_id })}
                  </Link>
                )}
              </td>
              <td data-label={t('users.lastSignedIn')}>
                {user.last_signed_in_at === null ? t('users.never') : <Ago at={user.last_signed_in_at} />}
              </td>
              <td className="cell-actions">
                <span className="row">
                  {(['link', 'sessions', 'remove'] as const).map(
                    (what) =>
                      !(what === 'remove' && user.email === own) && (
                        <button
                          key={what}
                          type="button"
                          className={what === 'remove' ? 'button button-bad' : 'button'}
                          aria-label={t('users.actionFor', { action: t(`users.${what}`), email: user.email })}
                          onClick={() => onAsk({ what, user })}
                        >
                          {t(`users.${what}`)}
                        </button>
                      ),
                  )}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
