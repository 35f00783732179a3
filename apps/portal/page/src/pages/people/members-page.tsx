import { useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { useGet, usePagedList } from '../../api/queries.ts';
import { SESSION_QUERY, useAccountId, useSession } from '../../api/session.ts';
import { ActionMenu } from '../../components/action-menu.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Confirm } from '../../components/form-dialog.tsx';
import { Paged, ProblemNote } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Switch } from '../../components/segments.tsx';
import { Ago } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { InvitationsCard } from './invitations-card.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { InviteDialog, type Member, RoleDialog } from './role-dialogs.tsx';

interface MemberPage {
  users: Member[];
  /** The last e-mail address of this page, as cursor. */
  next: string | null;
}

type Open = { what: 'invite' } | { what: 'role' | 'remove'; member: Member } | { what: 'link'; link: InvitationLink };

/** The users of an account, for its owners. */
export default function MembersPage(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const { email: own } = useSession();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const members = usePagedList({
    queryKey: ['members', accountId],
    path: `/accounts/${accountId}/users`,
    query: (after) => ({ after }),
    rowsOf: ({ users }: MemberPage) => users,
  });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  /** Reloads the session first: after a change of their own role, the owner may no longer see this page, nor load its list. */
  const reload = async () => {
    await queryClient.invalidateQueries(SESSION_QUERY);
    await queryClient.invalidateQueries({ queryKey: ['members', accountId] });
  };
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.people')} about={t('about')}>
        <HelpLink page="members" />
        <Button Icon={UserPlus} kind="main" onClick={() => setOpen({ what: 'invite' })}>
          {t('invite')}
        </Button>
      </PageHeader>
      <Paged list={members} skeleton={6}>
        {(rows) => <MembersTable members={rows} onAsk={(what, member) => setOpen({ what, member })} />}
      </Paged>
      <InvitationsCard />
      <SecondFactorSwitch />
      {open?.what === 'invite' && (
        <InviteDialog onInvited={(link) => setOpen({ what: 'link', link })} onClose={close} />
      )}
      {open?.what === 'link' && <LinkDialog link={open.link} about={t('link.joins')} onClose={close} />}
      {open?.what === 'role' && (
        <RoleDialog
          member={open.member}
          isOwn={open.member.email === own}
          onChanged={() => {
            notices.show({ text: t('changed') });
            return reload();
          }}
          onClose={close}
        />
      )}
      {open?.what === 'remove' && (
        <Confirm
          title={t('remove')}
          text={t(open.member.email === own ? 'removeOwnAsk' : 'removeAsk', { email: open.member.email })}
          action={async () => {
            // Ends the user's access to this account only.
            await call('DELETE', `/accounts/${accountId}/users/${open.member.user_id}`);
            await reload();
          }}
          onClose={close}
        />
      )}
    </div>
  );
}

function MembersTable(props: {
  members: Member[];
  onAsk: (what: 'role' | 'remove', member: Member) => void;
}): ReactNode {
  const { t } = useTranslation('users');
  const { email: own } = useSession();
  return (
    <div className="card table-card">
      <DataTable
        rows={props.members}
        keyOf={({ user_id }) => user_id}
        columns={[
          {
            header: t('who'),
            cell: ({ name, email }) => (
              <>
                <bdi>{name}</bdi> {email === own && <span className="badge">{t('you')}</span>}
                <p className="hint">
                  <bdi dir="ltr">{email}</bdi>
                </p>
              </>
            ),
          },
          { header: t('role'), cell: ({ role }) => <span className="badge">{t(`common:role.${role}`)}</span> },
          {
            header: t('lastSignedIn'),
            cell: ({ last_signed_in_at: at }) => (at === null ? t('never') : <Ago at={at} />),
          },
        ]}
        actions={{
          header: t('actions'),
          of: (member) => (
            <ActionMenu
              label={t('actionFor', { action: t('actions'), email: member.email })}
              actions={[
                { name: t('changeRole'), run: () => props.onAsk('role', member) },
                { name: t('remove'), isDestructive: true, run: () => props.onAsk('remove', member) },
              ]}
            />
          ),
        }}
      />
    </div>
  );
}

/** Whether the users of the account need a second factor. */
function SecondFactorSwitch(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const key = ['account', accountId, 'second-factor'];
  const state = useGet<{ second_factor_required: boolean }>(key, `/accounts/${accountId}`);
  const set = useAction({
    mutationFn: (required: boolean) => call('PUT', `/accounts/${accountId}/second-factor`, { body: { required } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: key });
      // The owner who turned it on may need a second factor too.
      await queryClient.invalidateQueries(SESSION_QUERY);
    },
  });
  if (!state.data) return null;
  const { second_factor_required: isOn } = state.data;
  return (
    <section className="card stack-tight">
      <Switch isOn={isOn} isBusy={set.isPending} label={t('secondFactor')} onClick={() => set.mutate(!isOn)} />
      <p className="hint">{t('secondFactorAbout')}</p>
      {set.isError && <ProblemNote error={set.error} />}
    </section>
  );
}
