import { type InputHTMLAttributes, type ReactNode, useId } from 'react';

type FieldProps = InputHTMLAttributes<HTMLInputElement> & { label: string; hint?: string; error?: string | null };

/** An input with its label, hint and error. */
export function Field({ label, hint, error, ...input }: FieldProps): ReactNode {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} aria-describedby={described || undefined} aria-invalid={error ? true : undefined} {...input} />
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      <FieldError id={`${id}-error`} text={error} />
    </div>
  );
}

/** Why a value is not accepted, below its input; announced when it appears. */
export function FieldError({ id, text }: { id?: string; text: string | null | undefined | false }): ReactNode {
  if (!text) return null;
  return (
    <p id={id} className="field-error" role="alert">
      {text}
    </p>
  );
}

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
