import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { type SecondStep as Step, signInByPasskey } from '../../api/passkeys.ts';
import { Field } from '../../components/field.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { PasskeyButton } from './passkey-button.tsx';
import { SecondStep } from './second-step.tsx';

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
      <PasskeyButton label={t('passkeys.signIn')} use={signInByPasskey} onUsed={props.onSignedIn} />
    </form>
  );
}
