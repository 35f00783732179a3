import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FILTER_NAMES, type Filters, isNarrowed, NO_FILTERS, VALUE_TEXTS } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

/** The chosen filters; each can be removed. */
export function FilterChips({ filters, onChange }: { filters: Filters; onChange: ChangeFilters }): ReactNode {
  const { t } = useTranslation('review');
  const chosen = FILTER_NAMES.filter((name) => filters[name] !== '');
  if (chosen.length === 0) return null;
  return (
    <ul className="plain filter-chips" aria-label={t('filter.chosen')}>
      {chosen.map((name) => {
        const value = t(`${VALUE_TEXTS[name]}.${filters[name]}`);
        const text = t('filter.is', { name: t(`filter.${name}`), value });
        return (
          <li key={name} className="chip">
            <span>{name === 'similar' ? t('filter.similar') : value}</span>
            <button type="button" aria-label={t('filter.remove', { text })} onClick={() => onChange({ [name]: '' })}>
              <X aria-hidden="true" size={14} />
            </button>
          </li>
        );
      })}
      {isNarrowed(filters) && (
        <li>
          <button type="button" className="button button-quiet" onClick={() => onChange(NO_FILTERS)}>
            {t('filter.clear')}
          </button>
        </li>
      )}
    </ul>
  );
}
