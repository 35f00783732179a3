import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { confirmByPasskey } from '../../api/passkeys.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { HiddenUsername, PasswordField } from '../../components/field.tsx';
import { Form, FormButtons } from '../../components/form-dialog.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { useSignOut } from '../user-menu.tsx';
import { AlonePage } from './alone-page.tsx';
import { CodeField, firstCode } from './code-field.tsx';
import { PasskeyButton, useProofText } from './passkey-button.tsx';
import { SecondFactorCards } from './second-factor-cards.tsx';

/** Asks for what signing in takes, to prove again who the user is. */
export function ConfirmForm(props: { cancel?: string; onConfirmed: () => unknown; onClose: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const { email, second_factor } = useSession();
  const { steps } = second_factor;
  const textOf = useProofText();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState(() => firstCode(steps));
  const confirm = useAction({
    mutationFn: () => call('POST', '/session/confirm', { body: { password, ...code } }),
    onSuccess: props.onConfirmed,
  });
  const isAboutPassword = code === null || isProblem(confirm.error, 'wrong_credentials');
  const errorText = confirm.error && textOf(confirm.error);
  return (
    <Form action={confirm}>
      {steps.includes('passkey') && (
        <PasskeyButton label={t('passkeys.use')} use={confirmByPasskey} onUsed={props.onConfirmed} />
      )}
      <HiddenUsername email={email} />
      <PasswordField
        label={t('password')}
        value={password}
        onChange={setPassword}
        error={isAboutPassword ? errorText : null}
      />
      {code && <CodeField steps={steps} value={code} onChange={setCode} error={isAboutPassword ? null : errorText} />}
      <FormButtons
        submit={t('confirm.submit')}
        cancel={props.cancel}
        isDisabled={confirm.isPending}
        onClose={props.onClose}
      />
    </Form>
  );
}

/** In place of the portal, for somebody who needs a second factor: sets one up, or asks for the one that there is. */
export function SecondFactorGate({ onDone }: { onDone: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const { name, email, second_factor } = useSession();
  const signOut = useSignOut();
  const isSetUp = second_factor.steps.length > 0;
  const title = t(isSetUp ? 'confirm.title' : 'gate.title');
  return (
    <AlonePage title={title}>
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
              <Button onClick={signOut}>{t('common:account.signOut')}</Button>
            </div>
          </>
        )}
      </div>
    </AlonePage>
  );
}
