import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { Field } from '../../components/field.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { LanguageSelect } from '../preferences.tsx';

export function SignInPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => call('POST', '/session', { body: { email, password } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['session'] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const errorText = (error: unknown) =>
    isProblem(error, 'wrong_credentials') || isProblem(error, 'invalid_request') ? t('wrong') : textOf(error);
  return (
    <main className="alone">
      <form className="card stack" onSubmit={submit}>
        <h1>{t('title')}</h1>
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
        <button type="submit" className="button button-main" disabled={signIn.isPending}>
          {t('submit')}
        </button>
        <p className="hint">{t('help')}</p>
      </form>
      <LanguageSelect />
    </main>
  );
}
