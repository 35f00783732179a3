import type { Member as StoredMember } from '@orders/database/users/memberships.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem, type Json } from '../../api/client.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { MEMBER_ROLES, type MemberRole, useAccountId } from '../../api/session.ts';
import { EmailField, RadioChoice } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useProblemText } from '../../components/loaded.tsx';
import { useAction } from '../../components/use-action.ts';

export type Member = Json<StoredMember>;

/** Invites a person to the account, with a role. None is chosen in advance, so that nobody gets more than was meant. */
export function InviteDialog(props: { onInvited: (link: InvitationLink) => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole | null>(null);
  const invite = useAction({
    mutationFn: (chosen: MemberRole) =>
      call<InvitationLink>('POST', `/accounts/${accountId}/users`, { body: { email, role: chosen } }),
    onSuccess: async (link) => {
      props.onInvited(link);
      await queryClient.invalidateQueries({ queryKey: ['members', accountId] });
    },
  });
  const { error } = invite;
  return (
    <FormDialog
      title={t('invite')}
      submit={t('makeLink')}
      action={{ ...invite, mutate: () => role !== null && invite.mutate(role) }}
      isExplained
      onClose={props.onClose}
    >
      <EmailField
        label={t('email')}
        autoComplete="off"
        value={email}
        onChange={setEmail}
        error={error && (isProblem(error, 'invalid_request') ? t('emailRule') : textOf(error))}
      />
      <RoleChoice value={role} onChange={setRole} />
    </FormDialog>
  );
}

/** Changes the role of a user in the account. */
export function RoleDialog(props: {
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
    mutationFn: () => call('PATCH', `/accounts/${accountId}/users/${member.user_id}`, { body: { role } }),
    onSuccess: async () => {
      onClose();
      await onChanged();
    },
  });
  return (
    <FormDialog
      title={t('roleOf', { email: member.email })}
      submit={t('common:action.save')}
      action={change}
      onClose={onClose}
    >
      <RoleChoice value={role} onChange={setRole} />
      {isOwn && role !== 'owner' && <p className="note note-warn">{t('ownRole')}</p>}
    </FormDialog>
  );
}

/** The roles of an account, each with what it permits. */
function RoleChoice(props: { value: MemberRole | null; onChange: (role: MemberRole) => void }): ReactNode {
  const { t } = useTranslation('users');
  const options = MEMBER_ROLES.map((value) => ({
    value,
    name: t(`common:role.${value}`),
    about: t(`roleAbout.${value}`),
  }));
  return <RadioChoice label={t('role')} options={options} {...props} />;
}
