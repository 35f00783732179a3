import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { inviteMember } from '../../api/members.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { MEMBER_ROLES, type MemberRole, useAccountId } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import './members.css';

/** Invites a person to the account, with a role. */
export function InviteDialog(props: { onInvited: (link: InvitationLink) => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole | null>(null);
  const invite = useAction({
    mutationFn: (chosen: MemberRole) => inviteMember(accountId, email, chosen),
    onSuccess: async (link) => {
      props.onInvited(link);
      await queryClient.invalidateQueries({ queryKey: ['members', accountId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role !== null) invite.mutate(role);
  };
  const errorText = (error: unknown) => (isProblem(error, 'invalid_request') ? t('emailRule') : textOf(error));
  return (
    <Dialog title={t('invite')} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        <Field
          label={t('email')}
          type="email"
          dir="ltr"
          autoComplete="off"
          required
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={invite.isError ? errorText(invite.error) : null}
        />
        <RoleChoice value={role} onChange={setRole} />
        <FormButtons submit={t('makeLink')} isBusy={invite.isPending} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

/** The roles of an account, each with what it permits. None is chosen in advance, so that nobody gets more than was meant. */
export function RoleChoice(props: { value: MemberRole | null; onChange: (role: MemberRole) => void }): ReactNode {
  const { t } = useTranslation('users');
  const id = useId();
  return (
    <fieldset className="role-choice">
      <legend>{t('role')}</legend>
      {MEMBER_ROLES.map((role) => (
        <div key={role}>
          <input
            type="radio"
            id={`${id}-${role}`}
            name={id}
            required
            aria-describedby={`${id}-${role}-about`}
            checked={props.value === role}
            onChange={() => props.onChange(role)}
          />
          <label htmlFor={`${id}-${role}`}>{t(`common:role.${role}`)}</label>
          <p id={`${id}-${role}-about`} className="hint">
            {t(`roleAbout.${role}`)}
          </p>
        </div>
      ))}
    </fieldset>
  );
}
