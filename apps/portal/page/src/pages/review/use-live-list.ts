import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { Updates } from '../../api/review-list.ts';
import type { Filters } from './filters.ts';
import { useArrivals } from './use-arrivals.ts';
import { useOrderList } from './use-order-list.ts';
import { useReview } from './use-review.ts';
import { useUpdates } from './use-updates.ts';

/**
 * The displayed list: loaded orders plus new ones, minus those moved to another state, here or by somebody else. New orders are inserted
 * only while the list is scrolled to its top, so that rows do not shift while being read.
 */
export function useLiveList(accountId: number, filters: Filters, openId: number | null) {
  const { list, orders, sortedNewest, addNew, replace, mark, setStates, reload } = useOrderList(accountId, filters);
  const { arrivals, announcement, receive, drop, clear } = useArrivals(filters, orders, list.hasNextPage);
  const [isAtTop, setAtTop] = useState(true);
  const [jumps, setJumps] = useState(0);
  /** Orders came back into the list that are not loaded. */
  const [isIncomplete, setIncomplete] = useState(false);
  const reported = useRef(new Map<number, string>());
  const { clearMoved, moveTo, ...review } = useReview(accountId, {
    onSettled: setStates,
    onReturned(returned) {
      const loaded = new Set(orders.map(({ order_id }) => order_id));
      if (filters.state === 'needs_review' && returned.some((id) => !loaded.has(id))) void reload();
    },
    onHeld: (held) => mark(new Map(held.map((id) => [id, 'undecided']))),
    onUncertain: () => void reload(),
  });

  const { moved } = review;

  const takeOver = (updates: Updates, requestedAt: number) => {
    receive(updates.new);
    for (const order of updates.edited) replace(order);
    const states = moveTo(new Map(updates.changed.map((order) => [order.order_id, order.review_state])), requestedAt);
    if (states.size > 0) setStates(states);
    drop(new Set([...states].filter(([, state]) => state !== filters.state).map(([id]) => id)));
    const loaded = new Set(orders.map(({ order_id }) => order_id));
    // Polls repeat changes for some seconds.
    const fresh = updates.changed.filter(({ order_id, at }) => reported.current.get(order_id) !== at);
    for (const { order_id, at } of fresh) reported.current.set(order_id, at);
    const returned = fresh.some(({ order_id: id }) => states.get(id) === filters.state && !loaded.has(id));
    if (list.isSuccess && (returned || updates.more_changes)) setIncomplete(true);
  };
  const updates = useUpdates(accountId, filters, list.isSuccess ? orders : undefined, openId, takeOver);

  const catchUp = useEffectEvent(() => {
    if (arrivals.gap || isIncomplete) void reload();
    else addNew(arrivals.orders);
    clear();
    setIncomplete(false);
  });
  const waiting = arrivals.orders.length;
  useEffect(() => {
    if (isAtTop && (waiting > 0 || isIncomplete)) catchUp();
  }, [isAtTop, waiting, isIncomplete]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters load another list.
  useEffect(() => {
    clearMoved();
    setIncomplete(false);
  }, [filters, clearMoved]);

  const shown = useMemo(
    () => orders.filter(({ order_id, review_state }) => (moved.get(order_id) ?? review_state) === filters.state),
    [orders, moved, filters.state],
  );
  return {
    list,
    orders: shown,
    /** Whether the list had orders, which were decided meanwhile. */
    hadOrders: orders.length > 0 || moved.size > 0,
    sortedNewest,
    ...review,
    replace,
    reload,
    arrivals,
    announcement,
    updates,
    jumps,
    setAtTop,
    jump: () => setJumps((count) => count + 1),
  };
}
