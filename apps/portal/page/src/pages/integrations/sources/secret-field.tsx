import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../../components/field.tsx';

/** A secret that the platform shows. It is written, never shown. */
export function SecretField(props: {
  value: string;
  onChange: (value: string) => void;
  hint: string;
  error?: string | null;
}): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <Field
      label={t('secret.label')}
      hint={props.hint}
      error={props.error ?? null}
      type="password"
      dir="ltr"
      // "off" alone makes browsers offer the password of the portal.
      autoComplete="new-password"
      maxLength={1000}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    />
  );
}
