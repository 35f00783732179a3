import { Search } from 'lucide-react';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';

/** Searches a list. `hint` says what can be found, in place of a label. */
export function SearchField(props: {
  label: string;
  hint: string;
  maxLength: number;
  value: string;
  onChange: (text: string) => void;
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void;
  input?: RefObject<HTMLInputElement | null>;
}): ReactNode {
  const { label, hint, maxLength, value, onChange, onKeyDown, input } = props;
  return (
    <div className="search-field">
      <Search aria-hidden="true" size={16} />
      <input
        ref={input}
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={hint}
        autoComplete="off"
        spellCheck="false"
        maxLength={maxLength}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}
