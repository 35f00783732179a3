import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { confirmByPasskey } from '../../api/passkeys.ts';
import { useSession } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { usePageTitle } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { LanguageChoice } from '../preferences.tsx';
import { useSignOut } from '../user-menu.tsx';
import { CodeField, firstCode } from './code-field.tsx';
import { PasskeyButton, useProofText } from './passkey-button.tsx';
import { SecondFactorCards } from './second-factor-cards.tsx';

/** Asks for what signing in takes, to prove again who the user is. */
export function ConfirmForm(props: { cancel?: string; onConfirmed: () => unknown; onClose: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const {
    email,
    second_factor: { steps },
  } = useSession();
  const textOf = useProofText();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState(() => firstCode(steps));
  const confirm = useAction({
    mutationFn: () => call('POST', '/session/confirm', { body: { password, ...code } }),
    onSuccess: props.onConfirmed,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate();
  };
  const isPasswordWrong = isProblem(confirm.error, 'wrong_credentials');
  const errorText = confirm.isError ? textOf(confirm.error) : null;
  return (
    <form className="stack" onSubmit={submit}>
      {steps.includes('passkey') && (
        <PasskeyButton label={t('passkeys.use')} use={confirmByPasskey} onUsed={props.onConfirmed} />
      )}
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <Field
        label={t('password')}
        type="password"
        autoComplete="current-password"
        dir="ltr"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={isPasswordWrong || code === null ? errorText : null}
      />
      {code && <CodeField steps={steps} value={code} onChange={setCode} error={isPasswordWrong ? null : errorText} />}
      <FormButtons
        submit={t('confirm.submit')}
        {...(props.cancel !== undefined && { cancel: props.cancel })}
        isBusy={confirm.isPending}
        onClose={props.onClose}
      />
    </form>
  );
}

/** In place of the portal, for somebody who needs a second factor: sets one up, or asks for the one that there is. */
export function SecondFactorGate({ onDone }: { onDone: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const {
    name,
    email,
    second_factor: { steps },
  } = useSession();
  const signOut = useSignOut();
  const isSetUp = steps.length > 0;
  const title = t(isSetUp ? 'confirm.title' : 'gate.title');
  usePageTitle(title, t('common:title'));
  return (
    <main className="alone">
      <div className="stack narrow">
        <header className="spread">
          <h1>{title}</h1>
          <HelpLink page="sign-in" anchor="second-factor" />
        </header>
        <p>{t('profile.signedInAs', { name, email })}</p>
        {isSetUp ? (
          <div className="card stack">
            <p>{t('gate.confirm')}</p>
            <ConfirmForm onConfirmed={onDone} cancel={t('common:account.signOut')} onClose={signOut} />
          </div>
        ) : (
          <>
            <p>{t('gate.about')}</p>
            <SecondFactorCards onChanged={onDone} />
            <div>
              <button type="button" className="button" onClick={signOut}>
                {t('common:account.signOut')}
              </button>
            </div>
          </>
        )}
      </div>
      <LanguageChoice />
    </main>
  );
}
