import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { type SecondStep as Step, signInByPasskey } from '../../api/passkeys.ts';
import { Button } from '../../components/button.tsx';
import { EmailField, PasswordField } from '../../components/field.tsx';
import { Form, SubmitButton } from '../../components/form-dialog.tsx';
import { BadNote, useProblemText } from '../../components/loaded.tsx';
import { useAction } from '../../components/use-action.ts';
import { CodeField, firstCode } from './code-field.tsx';
import { PasskeyButton, useProofText } from './passkey-button.tsx';

/** E-mail address and password, then a second step for users with a second factor; or a passkey. */
export function SignInForm(props: { email?: string; onSignedIn: () => unknown }): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const [email, setEmail] = useState(props.email ?? '');
  const [password, setPassword] = useState('');
  const [steps, setSteps] = useState<Step[] | null>(null);
  const signIn = useAction({
    mutationFn: () => call<{ second_step: Step[] } | undefined>('POST', '/session', { body: { email, password } }),
    onSuccess: (asked) => (asked ? setSteps(asked.second_step) : props.onSignedIn()),
  });
  if (steps) return <SecondStep steps={steps} onSignedIn={props.onSignedIn} onRestart={() => setSteps(null)} />;
  const errorText = (error: unknown) =>
    isProblem(error, 'wrong_credentials') || isProblem(error, 'invalid_request') ? t('wrong') : textOf(error);
  return (
    <Form action={signIn}>
      <EmailField label={t('email')} autoComplete="username" value={email} onChange={setEmail} />
      <PasswordField
        label={t('password')}
        value={password}
        onChange={setPassword}
        error={signIn.error && errorText(signIn.error)}
      />
      <SubmitButton action={signIn} className="button-wide">
        {t('submit')}
      </SubmitButton>
      <PasskeyButton label={t('passkeys.signIn')} use={signInByPasskey} onUsed={props.onSignedIn} />
    </Form>
  );
}

/** The step of a sign-in after the password. */
export function SecondStep(props: { steps: Step[]; onSignedIn: () => unknown; onRestart: () => void }): ReactNode {
  const { steps, onSignedIn, onRestart } = props;
  const { t } = useTranslation('signIn');
  const textOf = useProofText();
  const about = useRef<HTMLParagraphElement>(null);
  const [code, setCode] = useState(() => firstCode(steps));
  const signIn = useAction({
    mutationFn: () => call('POST', '/session/second-factor', { body: code }),
    onSuccess: onSignedIn,
  });
  useLayoutEffect(() => about.current?.closest('form')?.querySelector<HTMLElement>('input, button')?.focus(), []);
  const isOver = isProblem(signIn.error, 'sign_in_expired');
  return (
    <Form action={signIn}>
      <p ref={about}>{t('secondStep.about')}</p>
      {isOver && <BadNote text={textOf(signIn.error)} />}
      {code && !isOver && (
        <>
          <CodeField steps={steps} value={code} onChange={setCode} error={signIn.error && textOf(signIn.error)} />
          <SubmitButton action={signIn} className="button-wide">
            {t('secondStep.submit')}
          </SubmitButton>
        </>
      )}
      {steps.includes('passkey') && !isOver && (
        <PasskeyButton label={t('passkeys.use')} use={signInByPasskey} onUsed={onSignedIn} />
      )}
      <Button kind="quiet" onClick={onRestart}>
        {t('secondStep.restart')}
      </Button>
    </Form>
  );
}
