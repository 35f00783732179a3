import { type ReactNode, useId } from 'react';
import './segments.css';

/** A segmented control: a choice between a few visible options. */
export function Segments<T extends string>(props: {
  label: string;
  /** Shows the label to screen readers only. */
  hidesLabel?: boolean;
  options: readonly { value: T; name: string }[];
  value: T;
  onChange: (value: T) => void;
}): ReactNode {
  const group = useId();
  return (
    <fieldset className="segments">
      <legend className={props.hidesLabel ? 'visually-hidden' : 'hint'}>{props.label}</legend>
      {props.options.map(({ value, name }) => (
        <label key={value}>
          <input type="radio" name={group} checked={value === props.value} onChange={() => props.onChange(value)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
