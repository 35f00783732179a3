import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useAccountId } from '../../../api/session.ts';
import { type Filters, readFilters, writeFilters } from './filters.ts';
import type { useLiveList } from './use-live-list.ts';
import { forgetList } from './use-order-list.ts';

/** The filters and the open order, both stored in the URL, so that links and the back button work. */
export function useReviewUrl() {
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const search = useSearch();
  const [location, navigate] = useLocation();
  const base = `/accounts/${accountId}/orders`;
  const openId = Number(location.slice(base.length + 1)) || null;
  const filters = useMemo(() => readFilters(search), [search]);
  const addressOf = useCallback(
    (orderId: number | null, changed: Filters = filters) =>
      `${base}${orderId === null ? '' : `/${orderId}`}${writeFilters(changed)}`,
    [base, filters],
  );
  /** Opens an order, or with null only the list. `replace` replaces the history entry. */
  const open = (orderId: number | null, { replace = false } = {}) => navigate(addressOf(orderId), { replace });
  const filter = useCallback(
    (patch: Partial<Filters>, { replace = false } = {}) => {
      const changed = { ...filters, ...patch };
      forgetList(queryClient, accountId, changed);
      navigate(addressOf(changed.state === filters.state ? openId : null, changed), { replace });
    },
    [queryClient, accountId, navigate, addressOf, filters, openId],
  );
  /** Lets a link to a list load it; only the way back shows it as it was left. */
  const forget = (changed: Filters) => forgetList(queryClient, accountId, changed);
  return { accountId, openId, filters, addressOf, open, filter, forget };
}

/**
 * Opens the first order as soon as the list for the typed text is loaded. The list of an earlier text does not count, and typing again
 * cancels the request.
 */
export function useOpenFirst(live: ReturnType<typeof useLiveList>, filters: Filters, open: (id: number) => void) {
  const [requested, setRequested] = useState<string | null>(null);
  const isLoaded = live.list.isSuccess && !live.list.isFetching;
  const openFirst = useEffectEvent(() => {
    const [first] = live.orders;
    setRequested(null);
    if (first) open(first.order_id);
  });
  useEffect(() => {
    if (requested === null) return;
    if (requested !== filters.q) setRequested(null);
    else if (isLoaded) openFirst();
    else if (live.list.isError) setRequested(null);
  }, [requested, filters, isLoaded, live.list.isError]);
  return { request: setRequested, isPending: requested !== null };
}
