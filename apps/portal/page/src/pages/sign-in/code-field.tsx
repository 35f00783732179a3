import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SecondStep } from '../../api/passkeys.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';

/** A code that proves a second factor, in the form of the API. */
export type Code = { code: string } | { recovery_code: string };

/** The kind of code that is asked for first; null for somebody with passkeys alone and no recovery code left. */
export function firstCode(steps: readonly SecondStep[]): Code | null {
  if (steps.includes('code')) return { code: '' };
  return steps.includes('recovery_code') ? { recovery_code: '' } : null;
}

/** A code of an authenticator app, or a recovery code in its place. */
export function CodeField(props: {
  steps: readonly SecondStep[];
  value: Code;
  onChange: (value: Code) => void;
  error: string | null;
}): ReactNode {
  const { steps, value, onChange, error } = props;
  const { t } = useTranslation('signIn');
  const isRecovery = 'recovery_code' in value;
  return (
    <>
      {isRecovery ? (
        <Field
          key="recovery"
          label={t('code.recovery')}
          hint={t('code.recoveryHint')}
          dir="ltr"
          required
          maxLength={40}
          autoComplete="off"
          spellCheck={false}
          value={value.recovery_code}
          onChange={(recovery_code) => onChange({ recovery_code })}
          error={error}
        />
      ) : (
        <AppCodeField value={value.code} onChange={(code) => onChange({ code })} error={error} />
      )}
      {steps.includes('code') && steps.includes('recovery_code') && (
        <Button kind="quiet" onClick={() => onChange(isRecovery ? { code: '' } : { recovery_code: '' })}>
          {t(isRecovery ? 'code.useApp' : 'code.useRecovery')}
        </Button>
      )}
    </>
  );
}

/** Six digits. */
export function AppCodeField(props: {
  value: string;
  onChange: (value: string) => void;
  error: string | null;
}): ReactNode {
  const { t } = useTranslation('signIn');
  return (
    <Field
      key="app"
      label={t('code.app')}
      hint={t('code.appHint')}
      dir="ltr"
      inputMode="numeric"
      autoComplete="one-time-code"
      required
      pattern="[0-9]{6}"
      maxLength={6}
      {...props}
    />
  );
}
