import { useState } from 'react';
import type { ListedOrder } from '../../../api/review.ts';
import type { Updates } from '../../../api/review-list.ts';
import type { Filters } from './filters.ts';

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

/**
 * Holds new orders until `clear`.
 *
 * @param known the loaded orders, newest first.
 * @param hasMore whether older orders are not loaded yet. The service also returns those of the last seconds as new.
 */
export function useArrivals(filters: Filters, known: readonly ListedOrder[], hasMore: boolean) {
  const [arrivals, setArrivals] = useState<Arrivals & { of: Filters }>({ ...NONE, of: filters });
  const [announcement, setAnnouncement] = useState<Announcement | null>(null);
  const waiting = arrivals.of === filters ? arrivals : NONE;
  const receive = ({ orders, more }: Updates['new']) => {
    if (orders.length === 0) return;
    const ids = new Set([...waiting.orders, ...known].map(({ order_id }) => order_id));
    const oldestKnown = hasMore ? (known.at(-1)?.order_id ?? Number.POSITIVE_INFINITY) : 0;
    const fresh = orders.filter(({ order_id }) => order_id > oldestKnown && !ids.has(order_id));
    if (fresh.length === 0) return;
    const merged = [...fresh, ...waiting.orders].sort((a, b) => b.order_id - a.order_id);
    setArrivals({ orders: merged, gap: waiting.gap || (more && fresh.length === orders.length), of: filters });
    setAnnouncement({ count: fresh.length, newestId: Math.max(...fresh.map(({ order_id }) => order_id)) });
  };
  /** Drops orders that somebody decided meanwhile. */
  const drop = (ids: ReadonlySet<number>) => {
    if (waiting.orders.some(({ order_id }) => ids.has(order_id)))
      setArrivals({ ...waiting, orders: waiting.orders.filter(({ order_id }) => !ids.has(order_id)), of: filters });
  };
  const clear = () => setArrivals({ ...NONE, of: filters });
  return { arrivals: waiting, announcement, receive, drop, clear };
}
