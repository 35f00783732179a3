import { useEffect, useEffectEvent, useState } from 'react';
import type { Filters } from './filters.ts';
import type { useLiveList } from './use-live-list.ts';

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
