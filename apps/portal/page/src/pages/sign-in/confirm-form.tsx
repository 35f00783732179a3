import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { confirmByPasskey } from '../../api/passkeys.ts';
import { useSession } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { useAction } from '../../components/use-action.ts';
import { CodeField, firstCode } from './code-field.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { useProofText } from './use-proof-text.ts';

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
