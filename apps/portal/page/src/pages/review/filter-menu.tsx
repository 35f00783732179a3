import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../components/numbers.ts';
import { Popover } from '../../components/popover.tsx';
import { FILTER_NAMES, FILTER_VALUES, type FilterName, type Filters, VALUE_TEXTS } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

/** Chooses filters; the chosen ones are shown as chips. */
export function FilterMenu({ filters, onChange }: { filters: Filters; onChange: ChangeFilters }): ReactNode {
  const { t } = useTranslation('review');
  const chosen = FILTER_NAMES.filter((name) => filters[name] !== '').length;
  const label = (
    <>
      <SlidersHorizontal aria-hidden="true" size={16} />
      <span>{t('filter.fold')}</span>
      {chosen > 0 && <span className="badge">{formatCount(chosen)}</span>}
    </>
  );
  return (
    <Popover label={label} title={t('filter.fold')} width={380}>
      {() => <Choices filters={filters} onChange={onChange} />}
    </Popover>
  );
}

/** All changes of one visit are one step of the browser's history: the arrow keys choose each value on their way. */
function Choices({ filters, onChange }: { filters: Filters; onChange: ChangeFilters }): ReactNode {
  const hasChanged = useRef(false);
  const change: ChangeFilters = (patch) => {
    onChange(patch, { replace: hasChanged.current });
    hasChanged.current = true;
  };
  return (
    <div className="stack">
      {FILTER_NAMES.map((name) => (
        <Choice key={name} name={name} value={filters[name]} onChange={change} />
      ))}
    </div>
  );
}

function Choice({ name, value, onChange }: { name: FilterName; value: string; onChange: ChangeFilters }): ReactNode {
  const { t } = useTranslation('review');
  const group = useId();
  return (
    <fieldset className="pills">
      <legend>{t(`filter.${name}`)}</legend>
      {['', ...FILTER_VALUES[name]].map((option) => (
        <label key={option}>
          <input type="radio" name={group} checked={option === value} onChange={() => onChange({ [name]: option })} />
          <span>{t(option === '' ? 'filter.any' : `${VALUE_TEXTS[name]}.${option}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}
