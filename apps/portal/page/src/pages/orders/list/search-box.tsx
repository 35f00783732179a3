import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SearchField } from '../../../components/search-field.tsx';
import type { Filters } from './filters.ts';

const DEBOUNCE_MS = 250;

export type ChangeFilters = (patch: Partial<Filters>, options?: { replace?: boolean }) => void;

/** Searches when typing pauses. The URL is replaced, so that letters do not become history entries. */
export function SearchBox(props: {
  value: string;
  onChange: ChangeFilters;
  input: RefObject<HTMLInputElement | null>;
  onSubmit: (text: string | null) => void;
}): ReactNode {
  const { value, onChange, input, onSubmit } = props;
  const { t } = useTranslation('review');
  const [text, setText] = useState(value);
  const lastQuery = useRef(value);
  useEffect(() => {
    // Follows a navigation; the result of one's own typing must not overwrite newer letters.
    if (value !== lastQuery.current) setText(value);
    lastQuery.current = value;
  }, [value]);
  useEffect(() => {
    const query = text.trim();
    if (query === lastQuery.current) return;
    const timer = setTimeout(() => {
      lastQuery.current = query;
      onChange({ q: query }, { replace: true });
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  const submit = () => {
    const query = text.trim();
    if (query === '') return;
    if (query !== lastQuery.current) onChange({ q: query }, { replace: true });
    lastQuery.current = query;
    onSubmit(query);
  };
  return (
    <SearchField
      label={t('filter.search')}
      hint={t('filter.searchHint')}
      maxLength={200}
      value={text}
      input={input}
      onChange={(typed) => {
        setText(typed);
        onSubmit(null);
      }}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing || (event.key !== 'Escape' && event.key !== 'Enter')) return;
        event.preventDefault();
        event.currentTarget.blur();
        if (event.key === 'Enter') submit();
      }}
    />
  );
}
