import { REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import { ArrowDownWideNarrow, Check, SlidersHorizontal, X } from 'lucide-react';
import { type ReactNode, type RefObject, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ReviewState } from '../../../api/review.ts';
import type { Updates } from '../../../api/review-list.ts';
import { useAccountId } from '../../../api/session.ts';
import { useSources } from '../../../api/sources.ts';
import { MenuItems } from '../../../components/action-menu.tsx';
import { Button } from '../../../components/button.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { Popover } from '../../../components/popover.tsx';
import {
  FILTER_NAMES,
  FILTER_VALUES,
  type FilterName,
  type Filters,
  isNarrowed,
  NO_FILTERS,
  SORTS,
  VALUE_TEXTS,
} from './filters.ts';
import { type ChangeFilters, SearchBox } from './search-box.tsx';
import type { FoundInState } from './use-order-search.ts';
import { ViewsMenu } from './views-menu.tsx';
import './filter-bar.css';

/** Search box, filters, sort order and saved views of the list. */
export function FilterBar(props: {
  filters: Filters;
  onChange: ChangeFilters;
  /** Lets a shortcut focus the search box. */
  search: RefObject<HTMLInputElement | null>;
  /** Called with the text after Enter, and with null when it changes. */
  onSubmit: (text: string | null) => void;
}): ReactNode {
  const { filters, onChange, search, onSubmit } = props;
  return (
    <search className="filter-bar">
      <SearchBox value={filters.q} onChange={onChange} input={search} onSubmit={onSubmit} />
      <FilterMenu filters={filters} onChange={onChange} />
      <SortMenu sort={filters.sort} onChange={onChange} />
      <ViewsMenu filters={filters} onChange={onChange} />
    </search>
  );
}

/** Chooses the order of the list. */
function SortMenu({ sort, onChange }: { sort: string; onChange: ChangeFilters }): ReactNode {
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
        <MenuItems
          close={close}
          actions={SORTS.map((option) => ({
            name: t(`sort.${option || 'newest'}`),
            isCurrent: option === sort,
            Icon: option === sort ? Check : undefined,
            run: () => onChange({ sort: option }),
          }))}
        />
      )}
    </Popover>
  );
}

/** Chooses filters; the chosen ones are shown as chips. */
function FilterMenu({ filters, onChange }: { filters: Filters; onChange: ChangeFilters }): ReactNode {
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
  const valuesOf = useFilterValues();
  const hasChanged = useRef(false);
  const change: ChangeFilters = (patch) => {
    onChange(patch, { replace: hasChanged.current });
    hasChanged.current = true;
  };
  return (
    <div className="stack">
      {FILTER_NAMES.map((name) => (
        <Choice key={name} name={name} values={valuesOf(name)} value={filters[name]} onChange={change} />
      ))}
    </div>
  );
}

const SOURCES_INTERVAL_MS = 60_000;

/** The values of a filter with their texts. */
function useFilterValues(): (name: FilterName) => Map<string, string> {
  const { t } = useTranslation('review');
  const { data: sources = [] } = useSources(useAccountId(), SOURCES_INTERVAL_MS);
  return (name) =>
    name === 'source'
      ? new Map(sources.map(({ source_number, name: text }) => [String(source_number), text]))
      : new Map(FILTER_VALUES[name].map((value) => [value, t(`${VALUE_TEXTS[name]}.${value}`)]));
}

function Choice(props: {
  name: FilterName;
  values: ReadonlyMap<string, string>;
  value: string;
  onChange: ChangeFilters;
}): ReactNode {
  const { name, values, value, onChange } = props;
  const { t } = useTranslation('review');
  const group = useId();
  if (values.size === 0) return null;
  return (
    <fieldset className="pills">
      <legend>{t(`filter.${name}`)}</legend>
      {[['', t('filter.any')] as const, ...values].map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={group} checked={option === value} onChange={() => onChange({ [name]: option })} />
          <span>
            <bdi>{text}</bdi>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The chosen filters; each can be removed. */
export function FilterChips({ filters, onChange }: { filters: Filters; onChange: ChangeFilters }): ReactNode {
  const { t } = useTranslation('review');
  const valuesOf = useFilterValues();
  const chosen = FILTER_NAMES.filter((name) => filters[name] !== '');
  if (chosen.length === 0) return null;
  return (
    <ul className="plain filter-chips" aria-label={t('filter.chosen')}>
      {chosen.map((name) => {
        const value = valuesOf(name).get(filters[name]) ?? `${t(`filter.${name}`)} ${filters[name]}`;
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
          <Button kind="quiet" onClick={() => onChange(NO_FILTERS)}>
            {t('filter.clear')}
          </Button>
        </li>
      )}
    </ul>
  );
}

/**
 * Tabs of the review states, with the number of orders that need review, or of those in each state that match a search; one of orders that
 * await payment only if there are any.
 */
export function StateTabs(props: {
  counts: Updates['counts'] | undefined;
  /** What the search finds in all states; undefined without a search. */
  found: readonly FoundInState[] | undefined;
  filters: Filters;
  addressOf: (orderId: null, filters: Filters) => string;
  onOpen: (filters: Filters) => void;
}): ReactNode {
  const { counts, found, filters, addressOf, onOpen } = props;
  const { t } = useTranslation('review');
  // Few accounts have such orders.
  const hasUnpaid = counts?.awaiting_payment || filters.state === 'awaiting_payment';
  const shown = REVIEW_STATES.filter((state) => state !== 'awaiting_payment' || hasUnpaid);
  return (
    <nav className="tabs" aria-label={t('state.label')}>
      {shown.map((state) => (
        <Link
          key={state}
          href={addressOf(null, { ...filters, state })}
          onClick={() => onOpen({ ...filters, state })}
          aria-current={state === filters.state ? 'page' : undefined}
        >
          {t(`state.${state}`)}
          <StateCount counts={counts} found={found} state={state} />
        </Link>
      ))}
    </nav>
  );
}

/** How many orders of a state match the search; without a search, how many need review. */
function StateCount(props: {
  counts: Updates['counts'] | undefined;
  found: readonly FoundInState[] | undefined;
  state: ReviewState;
}): ReactNode {
  const { counts, found, state } = props;
  const matches = found?.find((one) => one.state === state);
  const waiting = state === 'needs_review' && counts ? { count: counts.needs_review, is_more: counts.capped } : null;
  const shown = matches ?? waiting;
  if (!shown) return null;
  return (
    <span className="badge" data-count={state}>
      {formatCount(shown.count, shown.is_more)}
    </span>
  );
}
