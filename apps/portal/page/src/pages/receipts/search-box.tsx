import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { TabLinks } from '../../components/tab-links.tsx';
import { type Filters, STATES } from './filters.ts';

/** Searches receipts by one of their three ids, or shows those of one state. */
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
  const [location] = useLocation();
  useEffect(() => setQ(filters.q), [filters.q]);
  return (
    <>
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
              spellCheck="false"
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
      <TabLinks
        label={t('state.label')}
        tabs={['', ...STATES].map((state) => ({
          name: t(`state.${state || 'any'}`),
          href: state ? `${location}?state=${state}` : location,
          isCurrent: filters.q === '' && filters.state === state,
        }))}
      />
    </>
  );
}
