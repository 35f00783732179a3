import { useQuery, useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { type Member, removeMember, setMemberRole, useMembers } from '../../api/members.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { SESSION_QUERY, useAccountId, useSession } from '../../api/session.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Switch } from '../../components/segments.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useAction } from '../../components/use-action.ts';
import { InvitationsCard } from './invitations-card.tsx';
import { InviteDialog, RoleChoice } from './invite-dialog.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { MembersTable } from './members-table.tsx';

type Open = { what: 'invite' } | { what: 'role' | 'remove'; member: Member } | { what: 'link'; link: InvitationLink };

/** The users of an account, for its owners. */
export function MembersPage(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const { email: own } = useSession();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const members = useMembers(accountId);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const found = members.data?.pages.flatMap(({ users }) => users) ?? [];
  /** Reloads the session first: after a change of their own role, the owner may no longer see this page, nor load its list. */
  const reload = async () => {
    await queryClient.invalidateQueries(SESSION_QUERY);
    await queryClient.invalidateQueries({ queryKey: ['members', accountId] });
  };
  return (
    <div className="stack">
      <PageHeader title={t('title')} about={t('about')}>
        <HelpLink page="members" />
        <button type="button" className="button button-main" onClick={() => setOpen({ what: 'invite' })}>
          <UserPlus aria-hidden="true" size={16} />
          {t('invite')}
        </button>
      </PageHeader>
      {members.isError && <ProblemNote error={members.error} retry={() => void members.refetch()} />}
      {members.isPending && <Skeleton shape="rows" count={6} />}
      {found.length > 0 && (
        <MembersTable
          members={found}
          onRole={(member) => setOpen({ what: 'role', member })}
          onRemove={(member) => setOpen({ what: 'remove', member })}
        />
      )}
      {members.hasNextPage && (
        <button type="button" className="button more-button" onClick={() => void members.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
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
          label={t('remove')}
          action={async () => {
            await removeMember(accountId, open.member.user_id);
            await reload();
          }}
          onClose={close}
        />
      )}
    </div>
  );
}

/** Whether the users of the account need a second factor. */
function SecondFactorSwitch(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const key = ['account', accountId, 'second-factor'];
  const state = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call<{ second_factor_required: boolean }>('GET', `/accounts/${accountId}`, { signal }),
  });
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

/** Changes the role of a user in the account. */
function RoleDialog(props: {
  member: Member;
  /** Whether the user is about to change their own role. */
  isOwn: boolean;
  onChanged: () => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const { member, isOwn, onChanged, onClose } = props;
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const [role, setRole] = useState(member.role);
  const change = useAction({
    mutationFn: () => setMemberRole(accountId, member.user_id, role),
    onSuccess: async () => {
      onClose();
      await onChanged();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog title={t('roleOf', { email: member.email })} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <RoleChoice value={role} onChange={setRole} />
        {isOwn && role !== 'owner' && <p className="note note-warn">{t('ownRole')}</p>}
        {change.isError && <ProblemNote error={change.error} />}
        <FormButtons submit={t('common:action.save')} isBusy={change.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
