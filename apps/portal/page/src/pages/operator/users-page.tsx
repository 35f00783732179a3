import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import { call } from '../../api/client.ts';
import { type InvitationLink, type Requested, requestLink, type UserPage, type UserRow } from '../../api/operator.ts';
import { usePagedList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ActionMenu } from '../../components/action-menu.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Confirm } from '../../components/form-dialog.tsx';
import { EmptyState, Paged } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Ago } from '../../components/time.tsx';
import { LinkDialog } from '../people/link-dialog.tsx';
import { ChangesCard } from './changes-card.tsx';
import { InviteForm } from './invite-form.tsx';
import './operator.css';

/** What can be done with a user, each with its path below the user's. */
const ACTIONS = { link: '', sessions: '/sessions', secondFactors: '/second-factors', remove: '' };
const ACTION_NAMES = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[];
type UserAction = { what: keyof typeof ACTIONS; user: UserRow };

/** The users of all accounts, or of one. */
export default function UsersPage(): ReactNode {
  const { t } = useTranslation('operator');
  const account = new URLSearchParams(useSearch()).get('account');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const [confirming, setConfirming] = useState<UserAction | null>(null);
  const [link, setLink] = useState<InvitationLink | null>(null);
  const list = usePagedList({
    queryKey: ['operator', 'users', account],
    path: '/operator/users',
    query: (after) => ({ account_id: account, after }),
    rowsOf: ({ users }: UserPage) => users,
  });
  /** Shows a new link, or that the change waits. */
  const report = async (outcome: Requested) => {
    if (outcome && 'link' in outcome) setLink(outcome);
    else if (outcome) notices.show({ text: t('changes.requested') });
    await queryClient.invalidateQueries({ queryKey: ['operator'] });
  };
  const act = async ({ what, user }: UserAction) => {
    const path = `/operator/users/${user.user_id}${ACTIONS[what]}`;
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
      <Paged list={list} skeleton={6} empty={<EmptyState title={t('users.none')} text={t('users.noneAbout')} />}>
        {(users) => <UserTable users={users} onAsk={setConfirming} />}
      </Paged>
      {confirming && (
        <Confirm
          title={t(`users.${confirming.what}`)}
          text={t(`users.${confirming.what}Ask`, { email: confirming.user.email })}
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

/** Users with their roles in each of their accounts. */
function UserTable({ users, onAsk }: { users: UserRow[]; onAsk: (confirming: UserAction) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const { email: own } = useSession();
  return (
    <div className="card table-card">
      <DataTable
        rows={users}
        keyOf={({ user_id }) => user_id}
        columns={[
          {
            header: t('users:who'),
            cell: ({ name, email }) => (
              <>
                <bdi>{name}</bdi>
                <p className="hint">
                  <bdi dir="ltr">{email}</bdi>
                </p>
              </>
            ),
          },
          { header: t('users:role'), cell: (user) => <Roles user={user} /> },
          {
            header: t('users:lastSignedIn'),
            cell: ({ last_signed_in_at: at }) => (at === null ? t('users:never') : <Ago at={at} />),
          },
        ]}
        actions={{
          header: t('users:actions'),
          of: (user) => (
            <ActionMenu
              label={t('users:actionFor', { action: t('users:actions'), email: user.email })}
              actions={ACTION_NAMES.filter((what) => user.email !== own || what === 'link' || what === 'sessions').map(
                (what) => ({
                  name: t(`users.${what}`),
                  isDestructive: what === 'remove',
                  run: () => onAsk({ what, user }),
                }),
              )}
            />
          ),
        }}
      />
    </div>
  );
}

function Roles({ user }: { user: UserRow }): ReactNode {
  const { t } = useTranslation('operator');
  return (
    <>
      {user.role === 'operator' && <span className="badge">{t('common:role.operator')}</span>}
      <ul className="plain user-memberships">
        {user.memberships.map(({ account_id, account_name, role }) => (
          <li key={account_id} className="row">
            <span className="badge">{t(`common:role.${role}`)}</span>
            <Link href={`/operator/users?account=${account_id}`}>
              <bdi>{account_name}</bdi>
            </Link>
            <span className="hint">#{account_id}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
