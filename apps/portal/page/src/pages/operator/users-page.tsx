import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import { call } from '../../api/client.ts';
import { type InvitationLink, type Requested, requestLink, type UserPage } from '../../api/operator.ts';
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
import { type UserAction, UserTable } from './user-table.tsx';
import './operator.css';

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
