import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useAccountId } from '../../api/session.ts';
import { type Filters, readFilters, writeFilters } from './filters.ts';
import { forgetList } from './use-order-list.ts';

/** The filters and the open order, both stored in the URL, so that links and the back button work. */
export function useReviewUrl() {
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const search = useSearch();
  const [location, navigate] = useLocation();
  const base = `/accounts/${accountId}/review`;
  const openId = Number(location.slice(base.length + 1)) || null;
  const filters = useMemo(() => readFilters(search), [search]);
  const addressOf = useCallback(
    (orderId: number | null, changed: Filters = filters) =>
      `${base}${orderId === null ? '' : `/${orderId}`}${writeFilters(changed)}`,
    [base, filters],
  );
  /** Opens an order, or with null only the list. `replace` replaces the history entry. */
  const open = useCallback(
    (orderId: number | null, { replace = false } = {}) => navigate(addressOf(orderId), { replace }),
    [navigate, addressOf],
  );
  const filter = useCallback(
    (patch: Partial<Filters>, { replace = false } = {}) => {
      const changed = { ...filters, ...patch };
      forgetList(queryClient, accountId, changed);
      navigate(addressOf(changed.state === filters.state ? openId : null, changed), { replace });
    },
    [queryClient, accountId, navigate, addressOf, filters, openId],
  );
  /** Lets a link to a list load it; only the way back shows it as it was left. */
  const forget = useCallback(
    (changed: Filters) => forgetList(queryClient, accountId, changed),
    [queryClient, accountId],
  );
  return { accountId, openId, filters, addressOf, open, filter, forget };
}
