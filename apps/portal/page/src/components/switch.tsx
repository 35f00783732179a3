import type { ReactNode } from 'react';
import './switch.css';

/** A setting that is on or off. */
export function Switch(props: { isOn: boolean; isBusy: boolean; label: string; onClick: () => void }): ReactNode {
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
