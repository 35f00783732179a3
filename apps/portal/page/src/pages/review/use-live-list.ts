import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import type { Filters } from './filters.ts';
import { useNewOrders } from './use-new-orders.ts';
import { useOrderList } from './use-order-list.ts';
import { useResentMarks } from './use-resent-marks.ts';
import { useReview } from './use-review.ts';

/**
 * The displayed list: loaded orders plus new ones, minus those moved to another state. New orders are inserted only while the list is
 * scrolled to its top, so that rows do not shift while being read.
 */
export function useLiveList(accountId: number, filters: Filters) {
  const { list, orders, addNew, replace, mark, setStates, reload } = useOrderList(accountId, filters);
  const { arrivals, clearArrivals, announcement } = useNewOrders(
    accountId,
    filters,
    list.isSuccess ? orders : undefined,
  );
  useResentMarks(accountId, filters, orders, mark);
  const [isAtTop, setAtTop] = useState(true);
  const [jumps, setJumps] = useState(0);
  const { moved, clearMoved, change, undoLast } = useReview(accountId, {
    onReturned(returned) {
      const loaded = new Set(orders.map(({ order_id }) => order_id));
      if (filters.state === 'needs_review' && returned.some((id) => !loaded.has(id))) void reload();
    },
    onSettled: setStates,
    onHeld: (held) => mark(new Map(held.map((id) => [id, 'undecided']))),
    onUncertain: () => void reload(),
  });

  const showArrivals = useEffectEvent(() => {
    if (arrivals.gap) void reload();
    else addNew(arrivals.orders);
    clearArrivals();
  });
  const waiting = arrivals.orders.length;
  useEffect(() => {
    if (isAtTop && waiting > 0) showArrivals();
  }, [isAtTop, waiting]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters load another list.
  useEffect(() => {
    clearMoved();
  }, [filters, clearMoved]);

  const shown = useMemo(
    () => orders.filter(({ order_id, review_state }) => (moved.get(order_id) ?? review_state) === filters.state),
    [orders, moved, filters.state],
  );
  return {
    list,
    orders: shown,
    moved,
    change,
    undoLast,
    replace,
    reload,
    arrivals,
    announcement,
    jumps,
    setAtTop,
    jump: () => setJumps((count) => count + 1),
  };
}
