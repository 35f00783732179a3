import { type ReactNode, useId, useReducer } from 'react';

/** A segmented control: a choice between a few visible options. */
export function Segments<T extends string>(props: {
  label: string;
  /** Shows the label to screen readers only. */
  hidesLabel?: boolean;
  /** `lang` is the language of a name that is not in the page's own. */
  options: readonly { value: T; name: string; lang?: string }[];
  value: T;
  disabled?: boolean;
  onChange: (value: T) => void;
}): ReactNode {
  const group = useId();
  // Preact leaves a rejected choice checked; rendering again takes it back.
  const [, render] = useReducer((count: number) => count + 1, 0);
  return (
    <fieldset className="segments">
      <legend className={props.hidesLabel ? 'visually-hidden' : 'hint'}>{props.label}</legend>
      {props.options.map(({ value, name, lang }) => (
        <label key={value}>
          <input
            type="radio"
            name={group}
            checked={value === props.value}
            disabled={props.disabled}
            onChange={() => {
              props.onChange(value);
              render();
            }}
          />
          <span lang={lang}>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A setting that is on or off. */
export function Switch(props: { isOn: boolean; isBusy?: boolean; label: string; onClick: () => void }): ReactNode {
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={props.isOn}
      disabled={props.isBusy}
      onClick={props.onClick}
    >
      <span className="switch-track" aria-hidden="true" />
      {props.label}
    </button>
  );
}
