import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { type AccountPage, inviteUser, type Requested, type UserRole } from '../../api/operator.ts';
import { MEMBER_ROLES } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { useDebounced } from '../../components/use-debounced.ts';

/** Invites a user of an account, with a role, or an operator. */
export function InviteForm({
  account,
  onInvited,
}: {
  /** The id of the preselected account. */
  account: string | null;
  onInvited: (outcome: Requested) => Promise<void>;
}): ReactNode {
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<UserRole | ''>('');
  const [chosen, setChosen] = useState(account ?? '');
  const roleId = useId();
  const invite = useAction({
    mutationFn: (invited: UserRole) =>
      inviteUser(email, invited === 'operator' ? null : { account_id: Number(chosen), role: invited }),
    onSuccess: async (outcome) => {
      setEmail('');
      await onInvited(outcome);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role !== '') invite.mutate(role);
  };
  const errorText = (error: unknown) => (isProblem(error, 'invalid_request') ? t('users.emailRule') : textOf(error));
  return (
    <form className="card operator-invite" onSubmit={submit}>
      <h2>{t('users.invite')}</h2>
      <Field
        label={t('users.email')}
        type="email"
        dir="ltr"
        autoComplete="off"
        required
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={invite.isError ? errorText(invite.error) : null}
      />
      <div className="field">
        <label htmlFor={roleId}>{t('users.role')}</label>
        <select id={roleId} required value={role} onChange={(event) => setRole(event.target.value as typeof role)}>
          <option value="">{t('users.chooseRole')}</option>
          {[...MEMBER_ROLES, 'operator' as const].map((value) => (
            <option key={value} value={value}>
              {t(`common:role.${value}`)}
            </option>
          ))}
        </select>
        {role !== '' && <p className="hint">{t(`users:roleAbout.${role}`)}</p>}
      </div>
      {role !== 'operator' && <AccountField value={chosen} onChange={setChosen} />}
      <button type="submit" className="button button-main" disabled={invite.isPending}>
        {t('users.makeLink')}
      </button>
    </form>
  );
}

/** An account id, with suggestions of accounts whose name or id matches. */
function AccountField({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const listId = useId();
  const searched = useDebounced(value.trim());
  const found = useQuery({
    queryKey: ['operator', 'accounts', 'choice', searched],
    queryFn: ({ signal }) => call<AccountPage>('GET', '/operator/accounts', { query: { q: searched }, signal }),
    placeholderData: (before) => before,
  });
  const accounts = found.data?.accounts ?? [];
  const chosen = accounts.find(({ account_id }) => String(account_id) === searched);
  return (
    <>
      <Field
        label={t('users.account')}
        list={listId}
        dir="auto"
        autoComplete="off"
        required
        pattern="[1-9][0-9]*"
        title={t('users.accountHint')}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        hint={chosen ? chosen.name : t('users.accountHint')}
      />
      <datalist id={listId}>
        {accounts.map(({ account_id, name }) => (
          <option key={account_id} value={account_id} label={name} />
        ))}
      </datalist>
    </>
  );
}
