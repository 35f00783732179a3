import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import { Field } from '../../components/field.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { usePageTitle } from '../../components/page-header.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { LanguageChoice } from '../preferences.tsx';

/** Asks for a link for a new password. It says the same for every address, as the portal does. */
export function ForgotPasswordPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const ask = useAction({ mutationFn: () => call('POST', '/password-resets', { body: { email } }) });
  usePageTitle(t('reset.title'), t('common:title'));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate();
  };
  const errorText = (error: unknown) => {
    if (isProblem(error, 'invalid_request')) return t('reset.noAddress');
    return isProblem(error, 'too_many_attempts') ? t('reset.tooMany') : textOf(error);
  };
  return (
    <main className="alone">
      <form className="card stack" onSubmit={submit}>
        <h1>{t('reset.title')}</h1>
        {ask.isSuccess ? (
          <p role="status">{t('reset.sent', { email })}</p>
        ) : (
          <>
            <p>{t('reset.explanation')}</p>
            <Field
              label={t('email')}
              type="email"
              autoComplete="username"
              dir="ltr"
              required
              maxLength={254}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
              error={ask.isError ? errorText(ask.error) : null}
            />
            <button type="submit" className="button button-main" disabled={ask.isPending}>
              {t('reset.send')}
            </button>
          </>
        )}
        <Link href="/">{t('reset.back')}</Link>
        <HelpLink page="sign-in" anchor="forgotten" />
      </form>
      <LanguageChoice />
    </main>
  );
}
