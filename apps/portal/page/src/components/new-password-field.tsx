import type { ReactNode } from 'react';
import { Field } from './field.tsx';

/** The field of a new password, with the limits of its length. */
export function NewPasswordField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
}): ReactNode {
  return (
    <Field
      label={props.label}
      type="password"
      autoComplete="new-password"
      dir="ltr"
      required
      minLength={15}
      maxLength={128}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
      error={props.error}
    />
  );
}
