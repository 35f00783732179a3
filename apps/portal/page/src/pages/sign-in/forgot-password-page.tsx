import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import { EmailField } from '../../components/field.tsx';
import { Form, SubmitButton } from '../../components/form-dialog.tsx';
import { useProblemText } from '../../components/loaded.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { AlonePage } from './alone-page.tsx';

/** Asks for a link for a new password. It says the same for every address, as the portal does. */
export default function ForgotPasswordPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const [email, setEmail] = useState('');
  const ask = useAction({ mutationFn: () => call('POST', '/password-resets', { body: { email } }) });
  const errorText = (error: unknown) => {
    if (isProblem(error, 'invalid_request')) return t('reset.noAddress');
    return isProblem(error, 'too_many_attempts') ? t('reset.tooMany') : textOf(error);
  };
  return (
    <AlonePage title={t('reset.title')}>
      <Form className="card stack" action={ask}>
        <h1>{t('reset.title')}</h1>
        {ask.isSuccess ? (
          <p role="status">{t('reset.sent', { email })}</p>
        ) : (
          <>
            <p>{t('reset.explanation')}</p>
            <EmailField
              label={t('email')}
              autoComplete="username"
              value={email}
              onChange={setEmail}
              error={ask.error && errorText(ask.error)}
            />
            <SubmitButton action={ask}>{t('reset.send')}</SubmitButton>
          </>
        )}
        <Link href="/">{t('reset.back')}</Link>
        <HelpLink page="sign-in" anchor="forgotten" />
      </Form>
    </AlonePage>
  );
}
