import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { type AccountPage, inviteUser, type Requested, type UserRole } from '../../api/operator.ts';
import { useGet } from '../../api/queries.ts';
import { MEMBER_ROLES } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { EmailField, Field, SelectField } from '../../components/field.tsx';
import { Form } from '../../components/form-dialog.tsx';
import { useProblemText } from '../../components/loaded.tsx';
import { useAction } from '../../components/use-action.ts';
import { useDebounced } from '../../components/use-debounced.ts';

/** Invites a user of an account, with a role, or an operator. @param props.account the id of the preselected account. */
export function InviteForm(props: {
  account: string | null;
  onInvited: (outcome: Requested) => Promise<void>;
}): ReactNode {
  const { account, onInvited } = props;
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<UserRole | ''>('');
  const [chosen, setChosen] = useState(account ?? '');
  const { mutate, isPending, error } = useAction({
    mutationFn: (invited: UserRole) =>
      inviteUser(email, invited === 'operator' ? null : { account_id: Number(chosen), role: invited }),
    onSuccess: async (outcome) => {
      setEmail('');
      await onInvited(outcome);
    },
  });
  return (
    <Form className="card operator-invite" onSubmit={() => role !== '' && mutate(role)}>
      <h2>{t('users:invite')}</h2>
      <EmailField
        label={t('users:email')}
        autoComplete="off"
        value={email}
        onChange={setEmail}
        error={error && (isProblem(error, 'invalid_request') ? t('users:emailRule') : textOf(error))}
      />
      <SelectField
        label={t('users:role')}
        hint={role === '' ? undefined : t(`users:roleAbout.${role}`)}
        required
        value={role}
        onChange={setRole}
        options={[
          { value: '', name: t('users.chooseRole') },
          ...[...MEMBER_ROLES, 'operator' as const].map((value) => ({ value, name: t(`common:role.${value}`) })),
        ]}
      />
      {role !== 'operator' && <AccountField value={chosen} onChange={setChosen} />}
      <Button type="submit" kind="main" disabled={isPending}>
        {t('users:makeLink')}
      </Button>
    </Form>
  );
}

/** An account id, with suggestions of accounts whose name or id matches. */
function AccountField({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const listId = useId();
  const searched = useDebounced(value.trim());
  const found = useGet<AccountPage>(['operator', 'accounts', 'choice', searched], '/operator/accounts', {
    query: { q: searched },
    placeholderData: keepPreviousData,
  });
  const accounts = found.data?.accounts ?? [];
  const chosen = accounts.find(({ account_id }) => String(account_id) === searched);
  return (
    <>
      <Field
        label={t('users.account')}
        hint={chosen ? chosen.name : t('users.accountHint')}
        list={listId}
        dir="auto"
        autoComplete="off"
        required
        pattern="[1-9][0-9]*"
        title={t('users.accountHint')}
        value={value}
        onChange={onChange}
      />
      <datalist id={listId}>
        {accounts.map(({ account_id, name }) => (
          <option key={account_id} value={account_id} label={name} />
        ))}
      </datalist>
    </>
  );
}
