import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { type ListedOrder, readUpdates } from '../../api/review.ts';
import { awaitsNewOrders, type Filters, toQuery } from './filters.ts';

const POLL_INTERVAL_MS = 2000;
/** Ids are assigned before the commit, so an order can still appear below one that is younger than this. In milliseconds. */
const SETTLE_MS = 10_000;

/** New orders that are not in the list yet, newest first. With `gap` there are more of them, so the list must be reloaded. */
export interface Arrivals {
  orders: ListedOrder[];
  gap: boolean;
}

/** The last arrival of orders, to be announced once. */
export interface Announcement {
  count: number;
  newestId: number;
}

const NONE: Arrivals = { orders: [], gap: false };

/** The newest id below which no further order can appear. */
function newestSettledId(orders: readonly ListedOrder[]): number {
  const settled = orders.find(({ written_at }) => Date.now() - Date.parse(written_at) > SETTLE_MS);
  return (settled ?? orders.at(-1))?.order_id ?? 0;
}

/**
 * Polls for orders that are not in the list yet, while the page is visible, and holds them until `clearArrivals`.
 *
 * @param known the loaded list, newest first; undefined while it loads.
 */
export function useNewOrders(accountId: number, filters: Filters, known: readonly ListedOrder[] | undefined) {
  const queryClient = useQueryClient();
  const [arrivals, setArrivals] = useState<Arrivals & { of: Filters }>({ ...NONE, of: filters });
  const [announcement, setAnnouncement] = useState<Announcement | null>(null);
  const waiting = arrivals.of === filters ? arrivals : NONE;
  const poll = useQuery({
    queryKey: ['new orders', accountId, filters],
    queryFn: async ({ signal }) => {
      const query = { ...toQuery(filters), after: newestSettledId(known ?? []) };
      return (await readUpdates(accountId, query, signal)).new;
    },
    enabled: known !== undefined && awaitsNewOrders(filters),
    refetchInterval: POLL_INTERVAL_MS,
    staleTime: 0,
    gcTime: 0,
  });
  const receive = useEffectEvent(({ orders, more }: { orders: ListedOrder[]; more: boolean }) => {
    const ids = new Set([...waiting.orders, ...(known ?? [])].map(({ order_id }) => order_id));
    const fresh = orders.filter(({ order_id }) => !ids.has(order_id));
    if (fresh.length === 0) return;
    const merged = [...fresh, ...waiting.orders].sort((a, b) => b.order_id - a.order_id);
    setArrivals({ orders: merged, gap: waiting.gap || (more && fresh.length === orders.length), of: filters });
    setAnnouncement({ count: fresh.length, newestId: Math.max(...fresh.map(({ order_id }) => order_id)) });
    void queryClient.invalidateQueries({ queryKey: ['counts', accountId] });
  });
  useEffect(() => {
    if (poll.data) receive(poll.data);
  }, [poll.data]);
  const clearArrivals = () => setArrivals({ ...NONE, of: filters });
  return { arrivals: waiting, clearArrivals, announcement };
}

/** The number of orders that need review, at most 10,000. */
export function useCounts(accountId: number) {
  return useQuery({
    queryKey: ['counts', accountId],
    queryFn: async ({ signal }) => (await readUpdates(accountId, { after: Number.MAX_SAFE_INTEGER }, signal)).counts,
    refetchInterval: 10_000,
  });
}
