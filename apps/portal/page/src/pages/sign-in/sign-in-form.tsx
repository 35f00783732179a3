import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { Field } from '../../components/field.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

/** E-mail address and password. */
export function SignInForm(props: { email?: string; onSignedIn: () => unknown }): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const [email, setEmail] = useState(props.email ?? '');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => call('POST', '/session', { body: { email, password } }),
    onSuccess: props.onSignedIn,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const errorText = (error: unknown) =>
    isProblem(error, 'wrong_credentials') || isProblem(error, 'invalid_request') ? t('wrong') : textOf(error);
  return (
    <form className="stack" onSubmit={submit}>
      <Field
        label={t('email')}
        type="email"
        autoComplete="username"
        dir="ltr"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label={t('password')}
        type="password"
        autoComplete="current-password"
        dir="ltr"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={signIn.isError ? errorText(signIn.error) : null}
      />
      <button type="submit" className="button button-main button-wide" disabled={signIn.isPending}>
        {t('submit')}
      </button>
    </form>
  );
}
