import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call } from '../../api/client.ts';
import type { SecondStep as Step } from '../../api/passkeys.ts';
import { SESSION_QUERY } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { NewPasswordField } from '../../components/new-password-field.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { SecondStep } from './second-step.tsx';

/** Accepts an invitation with a name and a new password. */
export function NewPasswordForm(props: { token: string; email: string; name: string }): ReactNode {
  const { token, email } = props;
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState(props.name);
  const [password, setPassword] = useState('');
  const [steps, setSteps] = useState<Step[] | null>(null);
  const accept = useAction({
    mutationFn: () =>
      call<{ second_step: Step[] } | undefined>('POST', '/invitations/accept', { body: { token, name, password } }),
    onSuccess: (asked) => (asked ? setSteps(asked.second_step) : open()),
  });
  const open = async () => {
    await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
    navigate('/', { replace: true });
  };
  if (steps) return <SecondStep steps={steps} onSignedIn={open} onRestart={() => navigate('/', { replace: true })} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <Field
        label={t('invitation.name')}
        autoComplete="name"
        dir="auto"
        required
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <NewPasswordField
        label={t('invitation.password')}
        value={password}
        onChange={setPassword}
        error={accept.isError ? textOf(accept.error) : null}
      />
      <button type="submit" className="button button-main" disabled={accept.isPending}>
        {t('invitation.submit')}
      </button>
    </form>
  );
}
