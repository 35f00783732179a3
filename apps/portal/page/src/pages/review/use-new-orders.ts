import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import type { ListedOrder } from '../../api/review.ts';
import { awaitsNewOrders, type Filters, toQuery } from './filters.ts';

const POLL = 2000;
/** Ids are given before the commit: an order may still appear below one that is younger than this, in milliseconds. */
const UNSETTLED = 10_000;

/** Those that arrived and are not in the list yet, newest first; `gap`: there are more than that, so the list is better loaded anew. */
export interface Arrivals {
  orders: ListedOrder[];
  gap: boolean;
}

/** The last time that orders arrived, to be announced once. */
export interface Heard {
  count: number;
  newestId: number;
}

const NONE: Arrivals = { orders: [], gap: false };

/** The newest order below which nothing can appear any more. */
function settledId(orders: readonly ListedOrder[]): number {
  const settled = orders.find(({ written_at }) => Date.now() - Date.parse(written_at) > UNSETTLED);
  return (settled ?? orders.at(-1))?.order_id ?? 0;
}

/**
 * Asks every two seconds, while the page is visible, for orders that the list does not know yet, and keeps them until they are taken.
 *
 * @param known the list as it is loaded, newest first; undefined while it is not.
 */
export function useNewOrders(accountId: number, filters: Filters, known: readonly ListedOrder[] | undefined) {
  const queryClient = useQueryClient();
  const [arrivals, setArrivals] = useState<Arrivals & { of: Filters }>({ ...NONE, of: filters });
  const [heard, setHeard] = useState<Heard | null>(null);
  const waiting = arrivals.of === filters ? arrivals : NONE;
  const poll = useQuery({
    queryKey: ['new orders', accountId, filters],
    queryFn: ({ signal }) =>
      call<{ orders: ListedOrder[]; more: boolean }>('GET', `/accounts/${accountId}/orders/new`, {
        query: { ...toQuery(filters), after: settledId(known ?? []) },
        signal,
      }),
    enabled: known !== undefined && awaitsNewOrders(filters),
    refetchInterval: POLL,
    staleTime: 0,
    gcTime: 0,
  });
  const receive = useEffectEvent(({ orders, more }: { orders: ListedOrder[]; more: boolean }) => {
    const ids = new Set([...waiting.orders, ...(known ?? [])].map(({ order_id }) => order_id));
    const fresh = orders.filter(({ order_id }) => !ids.has(order_id));
    if (fresh.length === 0) return;
    const together = [...fresh, ...waiting.orders].sort((a, b) => b.order_id - a.order_id);
    setArrivals({ orders: together, gap: waiting.gap || (more && fresh.length === orders.length), of: filters });
    setHeard({ count: fresh.length, newestId: Math.max(...fresh.map(({ order_id }) => order_id)) });
    void queryClient.invalidateQueries({ queryKey: ['counts', accountId] });
  });
  useEffect(() => {
    if (poll.data) receive(poll.data);
  }, [poll.data]);
  const take = () => setArrivals({ ...NONE, of: filters });
  return { arrivals: waiting, take, heard };
}

/** How many orders wait, at most 10,000. */
export function useCounts(accountId: number) {
  return useQuery({
    queryKey: ['counts', accountId],
    queryFn: ({ signal }) =>
      call<{ needs_review: number; capped: boolean }>('GET', `/accounts/${accountId}/orders/counts`, { signal }),
    refetchInterval: 10_000,
  });
}
