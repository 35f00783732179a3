import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Filters, STATES } from './filters.ts';

/** Searches receipts by one of their three ids, or filters by state. */
export function SearchBox({
  filters,
  change,
}: {
  filters: Filters;
  change: (patch: Partial<Filters>) => void;
}): ReactNode {
  const { t } = useTranslation('receipts');
  const [q, setQ] = useState(filters.q);
  const id = useId();
  useEffect(() => setQ(filters.q), [filters.q]);
  return (
    <div className="receipts-tools">
      <search>
        <form
          className="field"
          onSubmit={(event) => {
            event.preventDefault();
            change({ q });
          }}
        >
          <label htmlFor={`${id}-q`}>{t('search.label')}</label>
          <div className="receipts-search">
            <input
              id={`${id}-q`}
              type="search"
              dir="auto"
              maxLength={255}
              autoComplete="off"
              spellCheck={false}
              value={q}
              onChange={(event) => {
                setQ(event.target.value);
                if (event.target.value === '') change({ q: '' });
              }}
            />
            <button type="submit" className="button button-main">
              <Search aria-hidden="true" size={16} />
              {t('search.submit')}
            </button>
          </div>
        </form>
      </search>
      <div className="field">
        <label htmlFor={`${id}-state`}>{t('state.label')}</label>
        <select
          id={`${id}-state`}
          value={filters.state}
          onChange={(event) => change({ state: event.target.value, q: '' })}
        >
          <option value="">{t('state.any')}</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {t(`state.${state}`)}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
