import { type InputHTMLAttributes, type ReactNode, useId } from 'react';
import { useInvalidText } from './invalid-field.tsx';

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> & {
  label: string;
  hint?: string | undefined;
  error?: string | null;
  /** Makes it a text area with this many lines. */
  rows?: number;
  value: string;
  onChange: (value: string) => void;
};

/** An input with its label, hint and error. */
export function Field({ label, hint, error: rejection, onChange, ...input }: FieldProps): ReactNode {
  const id = useId();
  const error = useInvalidText(id) ?? rejection;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const Input = input.rows === undefined ? 'input' : ('textarea' as 'input');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        aria-describedby={described || undefined}
        aria-invalid={error ? true : undefined}
        data-explained
        {...input}
        onChange={(event) => onChange(event.target.value)}
      />
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

type OneField = Pick<FieldProps, 'label' | 'value' | 'onChange' | 'error'>;

/** What a person calls something. */
export function NameField(props: OneField & { hint: string; maxLength: number }): ReactNode {
  return <Field dir="auto" required autoComplete="off" {...props} />;
}

export function EmailField(props: OneField & { autoComplete: 'username' | 'off' }): ReactNode {
  return <Field type="email" dir="ltr" required maxLength={254} {...props} />;
}

/** The field of a password that exists. */
export function PasswordField(props: OneField): ReactNode {
  return <Field type="password" autoComplete="current-password" dir="ltr" required {...props} />;
}

/** The field of a new password, with the limits of its length. */
export function NewPasswordField(props: OneField): ReactNode {
  return (
    <Field type="password" autoComplete="new-password" dir="ltr" required minLength={15} maxLength={128} {...props} />
  );
}

/** For password managers: whose password a form sets or asks for. */
export function HiddenUsername({ email }: { email: string }): ReactNode {
  return <input type="email" autoComplete="username" value={email} readOnly hidden />;
}

/** A choice from a list that opens. */
export function SelectField<T extends string>(props: {
  label: string;
  hint?: string | undefined;
  options: readonly { value: T; name: string }[];
  value: T;
  required?: boolean;
  onChange: (value: T) => void;
}): ReactNode {
  const { label, hint, options, value, required, onChange } = props;
  const id = useId();
  const error = useInvalidText(id);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        required={required}
        aria-describedby={error ? `${id}-error` : undefined}
        data-explained
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {options.map((option) => (
          <option key={`${option.value} ${option.name}`} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
      {hint && <p className="hint">{hint}</p>}
      <FieldError id={`${id}-error`} text={error} />
    </div>
  );
}

/** A choice of one of a few options, each with what it means. */
export function RadioChoice<T extends string>(props: {
  label: string;
  hidesLabel?: boolean;
  options: readonly { value: T; name: string; about?: string }[];
  value: T | null;
  disabled?: boolean;
  onChange: (value: T) => void;
}): ReactNode {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a group of fields of which one is chosen.
    <fieldset className="choices stack-tight" role="radiogroup" aria-labelledby={`${id}-label`}>
      <legend id={`${id}-label`} className={props.hidesLabel ? 'visually-hidden' : undefined}>
        {props.label}
      </legend>
      {props.options.map(({ value, name, about }) => (
        <div key={value} className="choice">
          <input
            type="radio"
            id={`${id}-${value}`}
            name={id}
            required
            aria-describedby={about && `${id}-${value}-about`}
            checked={props.value === value}
            disabled={props.disabled}
            onChange={() => props.onChange(value)}
          />
          <label htmlFor={`${id}-${value}`}>{name}</label>
          {about && (
            <p id={`${id}-${value}-about`} className="hint">
              {about}
            </p>
          )}
        </div>
      ))}
    </fieldset>
  );
}

/** Any of a few options. */
export function CheckChoice<T extends string>(props: {
  label: string;
  options: readonly T[];
  nameOf: (option: T) => ReactNode;
  values: readonly T[];
  hint?: string;
  error?: string | null;
  onChange: (values: T[]) => void;
}): ReactNode {
  const { label, options, nameOf, values, hint, error, onChange } = props;
  const hintId = useId();
  const choose = (option: T, isChosen: boolean) =>
    onChange(options.filter((one) => (one === option ? isChosen : values.includes(one))));
  return (
    <fieldset className="choices stack-tight" aria-describedby={hint === undefined ? undefined : hintId}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option} className="choice">
          <input
            type="checkbox"
            checked={values.includes(option)}
            onChange={(event) => choose(option, event.target.checked)}
          />
          <span>{nameOf(option)}</span>
        </label>
      ))}
      {hint !== undefined && (
        <p className="hint" id={hintId}>
          {hint}
        </p>
      )}
      <FieldError text={error} />
    </fieldset>
  );
}
