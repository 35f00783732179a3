import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import { call } from '../../api/client.ts';
import { type InvitationLink, type Requested, requestLink, type UserPage, type UserRow } from '../../api/operator.ts';
import { Confirm } from '../../components/confirm.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { LinkDialog } from '../members/link-dialog.tsx';
import { ChangesCard } from './changes-card.tsx';
import { InviteForm } from './invite-form.tsx';
import './operator.css';
import { useSession } from '../../api/session.ts';
import { Ago } from '../../components/time.tsx';
import '../../components/data-table.css';

/** The users of all accounts, or of one. */
export function UsersPage(): ReactNode {
  const { t } = useTranslation('operator');
  const account = new URLSearchParams(useSearch()).get('account');
  const queryClient = useQueryClient();
  const notices = useNotices();
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
  /** Shows a new link, or that the change waits. */
  const report = async (outcome: Requested) => {
    if (outcome && 'link' in outcome) setLink(outcome);
    else if (outcome) notices.show({ text: t('changes.requested') });
    await queryClient.invalidateQueries({ queryKey: ['operator'] });
  };
  const act = async ({ what, user }: UserAction) => {
    const part = { sessions: '/sessions', secondFactors: '/second-factors', remove: '', link: '' }[what];
    const path = `/operator/users/${user.user_id}${part}`;
    await report(what === 'link' ? await requestLink(user) : await call<Requested>('DELETE', path));
  };
  return (
    <div className="stack">
      <PageHeader title={t('users.title')} about={t('users.about')}>
        <HelpLink page="users" />
      </PageHeader>
      <ChangesCard onLink={setLink} />
      <InviteForm key={account} account={account} onInvited={report} />
      {account !== null && (
        <p className="row">
          {t('users.ofAccount', { id: account })} <Link href="/operator/users">{t('users.all')}</Link>
          <Link href={`/accounts/${account}/users`}>{t('users.roles')}</Link>
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
      {link && (
        <LinkDialog
          link={link}
          about={t(link.sets_new_password ? 'users:link.newPassword' : 'users:link.invites')}
          onClose={() => setLink(null)}
        />
      )}
    </div>
  );
}

type UserAction = { what: 'link' | 'sessions' | 'secondFactors' | 'remove'; user: UserRow };

/** Users with their roles in each of their accounts. */
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
                {user.role === 'operator' && <span className="badge">{t('common:role.operator')}</span>}
                <ul className="plain user-memberships">
                  {user.memberships.map(({ account_id, role }) => (
                    <li key={account_id}>
                      <Link href={`/operator/users?account=${account_id}`}>
                        {t('users.memberOf', { role: t(`common:role.${role}`), id: account_id })}
                      </Link>
                    </li>
                  ))}
                </ul>
              </td>
              <td data-label={t('users.lastSignedIn')}>
                {user.last_signed_in_at === null ? t('users.never') : <Ago at={user.last_signed_in_at} />}
              </td>
              <td className="cell-actions">
                <span className="row">
                  {(['link', 'sessions', 'secondFactors', 'remove'] as const).map(
                    (what) =>
                      !((what === 'remove' || what === 'secondFactors') && user.email === own) && (
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
