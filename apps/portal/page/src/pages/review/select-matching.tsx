import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { readMatchingIds } from '../../api/review-list.ts';
import { formatCount } from '../../components/numbers.ts';
import { type Filters, toQuery } from './filters.ts';
import type { useSelection } from './use-selection.ts';

/** Offers to select also the orders that are not loaded, once all loaded ones are selected. */
export function SelectMatching({
  accountId,
  filters,
  selection,
}: {
  accountId: number;
  filters: Filters;
  selection: ReturnType<typeof useSelection>;
}): ReactNode {
  const { t } = useTranslation('review');
  const matching = useQuery({
    queryKey: ['matching ids', accountId, filters],
    queryFn: ({ signal }) => readMatchingIds(accountId, toQuery(filters), signal),
    staleTime: 0,
    gcTime: 0,
  });
  const { data } = matching;
  if (selection.isBeyond || !data || data.order_ids.length <= selection.ids.length) return null;
  const count = data.order_ids.length;
  return (
    <div className="select-matching">
      <button type="button" className="button button-quiet" onClick={() => selection.selectBeyond(data)}>
        {t(data.capped ? 'list.selectNewest' : 'list.selectMatching', { count, formatted: formatCount(count) })}
      </button>
    </div>
  );
}
