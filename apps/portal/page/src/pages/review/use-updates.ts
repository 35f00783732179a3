import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { ListedOrder } from '../../api/review.ts';
import { readUpdates, type Updates } from '../../api/review-list.ts';
import { awaitsNewOrders, type Filters, toQuery } from './filters.ts';

const POLL_INTERVAL_MS = 2000;
/** A request without an answer for this long has failed. */
const TIMEOUT_MS = 5000;
/** Polls that fail for longer are told to the reviewer. */
const STALE_MS = 6000;
/** Ids are assigned before the commit, so an order can still appear below one that is younger than this. In milliseconds. */
const SETTLE_MS = 10_000;

/** The newest id below which no further order can appear. */
function newestSettledId(orders: readonly ListedOrder[]): number {
  const settled = orders.find(({ written_at }) => Date.now() - Date.parse(written_at) > SETTLE_MS);
  return (settled ?? orders.at(-1))?.order_id ?? 0;
}

/**
 * Polls what happened to the list, while the page is visible.
 *
 * @param known the loaded list, newest first; undefined while it loads.
 * @param onUpdates called with each reply and the time when it was requested.
 */
export function useUpdates(
  accountId: number,
  filters: Filters,
  known: readonly ListedOrder[] | undefined,
  openId: number | null,
  onUpdates: (updates: Updates, requestedAt: number) => void,
) {
  const queryClient = useQueryClient();
  // Kept with the list, so that the way back catches up on what happened meanwhile.
  const seenKey = ['events seen', accountId, filters];
  const poll = useQuery({
    queryKey: ['updates', accountId, filters],
    async queryFn({ signal }) {
      const requestedAt = performance.now();
      const awaits = known !== undefined && awaitsNewOrders(filters);
      const query = {
        ...toQuery(filters),
        // With the largest id there are no new ones.
        after: awaits ? newestSettledId(known) : Number.MAX_SAFE_INTEGER,
        event_after: queryClient.getQueryData<number>(seenKey),
        open: openId,
      };
      const updates = await readUpdates(accountId, query, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
      return { updates, requestedAt, awaits };
    },
    refetchInterval: POLL_INTERVAL_MS,
    // The next poll follows soon, and without a network the failure must show.
    retry: false,
    networkMode: 'always',
    staleTime: 0,
    gcTime: 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
  const receive = useEffectEvent(({ updates, requestedAt, awaits }: NonNullable<typeof poll.data>) => {
    queryClient.setQueryDefaults(['events seen'], { gcTime: 10 * 60_000 });
    queryClient.setQueryData(seenKey, updates.event_after);
    onUpdates(awaits ? updates : { ...updates, new: { orders: [], more: false } }, requestedAt);
  });
  useEffect(() => {
    if (poll.data && !poll.isPlaceholderData) receive(poll.data);
  }, [poll.data, poll.isPlaceholderData]);
  const startedAt = useRef(Date.now());
  const updatedAt = poll.dataUpdatedAt || startedAt.current;
  const isFailing = poll.errorUpdatedAt - updatedAt > STALE_MS;
  return {
    counts: poll.data?.updates.counts,
    requests: poll.isPlaceholderData ? undefined : poll.data?.updates.cancellation_requests,
    viewers: poll.isPlaceholderData ? undefined : poll.data?.updates.viewers,
    /** When the list was last known to be up to date, if that is too long ago. */
    staleSince: isFailing ? updatedAt : null,
    retry: () => void poll.refetch(),
  };
}
