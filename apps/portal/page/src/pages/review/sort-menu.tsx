import { ArrowDownWideNarrow, Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Popover } from '../../components/popover.tsx';
import { SORTS } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

/** Chooses the order of the list. */
export function SortMenu({ sort, onChange }: { sort: string; onChange: ChangeFilters }): ReactNode {
  const { t } = useTranslation('review');
  const order = t(`sort.${sort || 'newest'}`);
  const label = (
    <>
      <ArrowDownWideNarrow aria-hidden="true" size={16} />
      <span className="sort-name">{order}</span>
    </>
  );
  return (
    <Popover label={label} title={t('sort.title')} name={t('sort.label', { order })} width={220}>
      {(close) => (
        <ul className="menu-list">
          {SORTS.map((option) => (
            <li key={option}>
              <button
                type="button"
                className="menu-item"
                aria-current={option === sort ? 'true' : undefined}
                onClick={() => {
                  close();
                  onChange({ sort: option });
                }}
              >
                {t(`sort.${option || 'newest'}`)}
                {option === sort && <Check aria-hidden="true" size={16} />}
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}
