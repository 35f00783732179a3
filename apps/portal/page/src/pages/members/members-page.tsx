import { useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Member, removeMember, useMembers } from '../../api/members.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { SESSION_QUERY, useAccountId, useSession } from '../../api/session.ts';
import { Confirm } from '../../components/confirm.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { InvitationsCard } from './invitations-card.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { MembersTable } from './members-table.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { SecondFactorSwitch } from './second-factor-switch.tsx';

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
