import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { type SecondStep as Step, signInByPasskey } from '../../api/passkeys.ts';
import { useAction } from '../../components/use-action.ts';
import { CodeField, firstCode } from './code-field.tsx';
import { PasskeyButton, useProofText } from './passkey-button.tsx';

/** The step of a sign-in after the password. */
export function SecondStep(props: { steps: Step[]; onSignedIn: () => unknown; onRestart: () => void }): ReactNode {
  const { steps, onSignedIn, onRestart } = props;
  const { t } = useTranslation('signIn');
  const textOf = useProofText();
  const form = useRef<HTMLFormElement>(null);
  const [code, setCode] = useState(() => firstCode(steps));
  const signIn = useAction({
    mutationFn: () => call('POST', '/session/second-factor', { body: code }),
    onSuccess: onSignedIn,
  });
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, button')?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const isOver = isProblem(signIn.error, 'sign_in_expired');
  return (
    <form ref={form} className="stack" onSubmit={submit}>
      <p>{t('secondStep.about')}</p>
      {isOver && (
        <p className="note note-bad" role="alert">
          {textOf(signIn.error)}
        </p>
      )}
      {code && !isOver && (
        <>
          <CodeField
            steps={steps}
            value={code}
            onChange={setCode}
            error={signIn.isError ? textOf(signIn.error) : null}
          />
          <button type="submit" className="button button-main button-wide" disabled={signIn.isPending}>
            {t('secondStep.submit')}
          </button>
        </>
      )}
      {steps.includes('passkey') && !isOver && (
        <PasskeyButton label={t('passkeys.use')} use={signInByPasskey} onUsed={onSignedIn} />
      )}
      <button type="button" className="button button-quiet" onClick={onRestart}>
        {t('secondStep.restart')}
      </button>
    </form>
  );
}
