import type { ReactNode, RefObject } from 'react';
import { FilterMenu } from './filter-menu.tsx';
import type { Filters } from './filters.ts';
import { type ChangeFilters, SearchBox } from './search-box.tsx';
import { SortMenu } from './sort-menu.tsx';
import { ViewsMenu } from './views-menu.tsx';

/** Search box, filters, sort order and saved views of the list. */
export function FilterBar({
  accountId,
  filters,
  onChange,
  search,
  onSubmit,
}: {
  accountId: number;
  filters: Filters;
  onChange: ChangeFilters;
  /** Lets a shortcut focus the search box. */
  search: RefObject<HTMLInputElement | null>;
  /** Called with the text after Enter, and with null when it changes. */
  onSubmit: (text: string | null) => void;
}): ReactNode {
  return (
    <search className="filter-bar">
      <SearchBox value={filters.q} onChange={onChange} input={search} onSubmit={onSubmit} />
      <FilterMenu filters={filters} onChange={onChange} />
      <SortMenu sort={filters.sort} onChange={onChange} />
      <ViewsMenu accountId={accountId} filters={filters} onChange={onChange} />
    </search>
  );
}
