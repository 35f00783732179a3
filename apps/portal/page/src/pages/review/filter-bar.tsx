import { Search, SlidersHorizontal, X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AGES, CHANNELS, EMIRATE_CODES, type Filters, isNarrowed } from './filters.ts';

const DEBOUNCE_MS = 250;
const NO_FILTERS = { q: '', channel: '', emirate: '', warnings: '', age: '' } satisfies Partial<Filters>;

type Change = (patch: Partial<Filters>, options?: { replace?: boolean }) => void;

/** Search box and filters of the list. */
export function FilterBar({
  filters,
  onChange,
  search,
  onSubmit,
}: {
  filters: Filters;
  onChange: Change;
  /** Lets a shortcut focus the search box. */
  search: RefObject<HTMLInputElement | null>;
  /** Called with the text after Enter, and with null when it changes. */
  onSubmit: (text: string | null) => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const [isUnfolded, setUnfolded] = useState(false);
  const chosen = [filters.channel, filters.emirate, filters.warnings, filters.age].filter(Boolean).length;
  return (
    <search className="filter-bar">
      <SearchBox value={filters.q} onChange={onChange} input={search} onSubmit={onSubmit} />
      <button
        type="button"
        className="button filter-fold"
        aria-expanded={isUnfolded}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        <SlidersHorizontal aria-hidden="true" size={16} />
        {t('filter.fold')}
        {chosen > 0 && <span className="badge">{chosen}</span>}
      </button>
      <div className={isUnfolded ? 'filters is-unfolded' : 'filters'}>
        <Choice name="channel" values={CHANNELS} textKey="common:channel" filters={filters} onChange={onChange} />
        <Choice
          name="emirate"
          values={[...EMIRATE_CODES, 'none']}
          textKey="emirate"
          filters={filters}
          onChange={onChange}
        />
        <Choice
          name="warnings"
          values={['yes', 'no']}
          textKey="filter.withWarnings"
          filters={filters}
          onChange={onChange}
        />
        <Choice name="age" values={AGES} textKey="filter.ages" filters={filters} onChange={onChange} />
        {isNarrowed(filters) && (
          <button
            type="button"
            className="icon-button"
            aria-label={t('filter.clear')}
            title={t('filter.clear')}
            onClick={() => onChange(NO_FILTERS)}
          >
            <X aria-hidden="true" size={18} />
          </button>
        )}
      </div>
    </search>
  );
}

/** Searches when typing pauses. The URL is replaced, so that letters do not become history entries. */
function SearchBox({
  value,
  onChange,
  input,
  onSubmit,
}: {
  value: string;
  onChange: Change;
  input: RefObject<HTMLInputElement | null>;
  onSubmit: (text: string | null) => void;
}): ReactNode {
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
    <div className="search-box">
      <Search aria-hidden="true" size={16} />
      <input
        ref={input}
        type="search"
        // With `auto`, an empty box and its placeholder would be left-to-right in Arabic too.
        dir={text === '' ? undefined : 'auto'}
        aria-label={t('filter.search')}
        placeholder={t('filter.searchHint')}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onSubmit(null);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || (event.key !== 'Escape' && event.key !== 'Enter')) return;
          event.preventDefault();
          event.currentTarget.blur();
          if (event.key === 'Enter') submit();
        }}
      />
    </div>
  );
}

function Choice({
  name,
  values,
  textKey,
  filters,
  onChange,
}: {
  name: 'channel' | 'emirate' | 'warnings' | 'age';
  values: readonly string[];
  textKey: string;
  filters: Filters;
  onChange: Change;
}): ReactNode {
  const { t } = useTranslation('review');
  const value = filters[name];
  return (
    <select
      aria-label={t(`filter.${name}`)}
      className={value === '' ? undefined : 'is-chosen'}
      value={value}
      onChange={(event) => onChange({ [name]: event.target.value })}
    >
      <option value="">{t(`filter.${name}`)}</option>
      {values.map((option) => (
        <option key={option} value={option}>
          {t(`${textKey}.${option}`)}
        </option>
      ))}
    </select>
  );
}
