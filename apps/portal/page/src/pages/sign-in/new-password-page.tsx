import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import { useStartAgain } from '../../api/session.ts';
import { HiddenUsername, NewPasswordField } from '../../components/field.tsx';
import { Form, SubmitButton } from '../../components/form-dialog.tsx';
import { BadNote, ProblemNote, useProblemText } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { AlonePage } from './alone-page.tsx';

/** The target of a mailed link for a new password. The token is in the fragment, which browsers do not send to servers. */
export default function NewPasswordPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const notices = useNotices();
  const start = useStartAgain();
  const [token] = useState(() => window.location.hash.slice(1));
  const [password, setPassword] = useState('');
  const reset = useQuery({
    queryKey: ['password-reset', token],
    queryFn: () => call<{ email: string }>('POST', '/password-resets/lookup', { body: { token } }),
  });
  const use = useAction({
    mutationFn: () => call('POST', '/password-resets/use', { body: { token, password } }),
    onSuccess: () => {
      notices.show({ text: t('reset.done') });
      // All sessions of the user have ended, also one in this browser.
      return start();
    },
  });
  if (reset.isPending) return null;
  const isGone = [reset.error, use.error].some((error) => isProblem(error) && [404, 422].includes(error.status));
  if (reset.isError || isProblem(use.error, 'reset_not_found'))
    return (
      <main className="alone">
        {isGone ? (
          <>
            <BadNote text={t('reset.gone')} />
            <Link href="/forgot-password">{t('reset.again')}</Link>
          </>
        ) : (
          <ProblemNote error={reset.error} retry={() => void reset.refetch()} />
        )}
      </main>
    );
  const { email } = reset.data;
  return (
    <AlonePage title={t('reset.title')}>
      <Form className="card stack" action={use}>
        <h1>{t('reset.title')}</h1>
        <p>{t('reset.for', { email })}</p>
        <HiddenUsername email={email} />
        <NewPasswordField
          label={t('profile.newPassword')}
          value={password}
          onChange={setPassword}
          error={use.error && textOf(use.error)}
        />
        <SubmitButton action={use}>{t('reset.set')}</SubmitButton>
        <HelpLink page="sign-in" anchor="forgotten" />
      </Form>
    </AlonePage>
  );
}
