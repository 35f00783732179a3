import { type ReactNode, useId } from 'react';
import './segments.css';

/** A choice between a few, all in sight. */
export function Segments<T extends string>(props: {
  label: string;
  /** Whether the label is for screen readers alone. */
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
