import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import type { Filters } from './filters.ts';
import { useNewOrders } from './use-new-orders.ts';
import { useOrderList } from './use-order-list.ts';
import { useResentMarks } from './use-resent-marks.ts';
import { useReview } from './use-review.ts';

/**
 * The list as it is shown: what was loaded, with what arrived since, without what was moved elsewhere. At its top new orders appear by
 * themselves; further down they wait, so that nothing moves under the reader's eyes.
 */
export function useLiveList(accountId: number, filters: Filters) {
  const { list, orders, addNew, replace, mark, reload } = useOrderList(accountId, filters);
  const { arrivals, take, heard } = useNewOrders(accountId, filters, list.isSuccess ? orders : undefined);
  useResentMarks(accountId, filters, orders, mark);
  const [isAtTop, setAtTop] = useState(true);
  const [jumps, setJumps] = useState(0);
  const { moved, forget, change, undoLast } = useReview(accountId, {
    onReturned(returned) {
      const loaded = new Set(orders.map(({ order_id }) => order_id));
      if (filters.state === 'needs_review' && returned.some((id) => !loaded.has(id))) void reload();
    },
    onHeld: (held) => mark(new Map(held.map((id) => [id, 'undecided']))),
    onUncertain: () => void reload(),
  });

  const admit = useEffectEvent(() => {
    if (arrivals.gap) void reload();
    else addNew(arrivals.orders);
    take();
  });
  const waiting = arrivals.orders.length;
  useEffect(() => {
    if (isAtTop && waiting > 0) admit();
  }, [isAtTop, waiting]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters are another list, loaded anew from its top.
  useEffect(() => {
    forget();
    setAtTop(true);
    setJumps((count) => count + 1);
  }, [filters, forget]);

  const shown = useMemo(
    () => orders.filter(({ order_id }) => (moved.get(order_id) ?? filters.state) === filters.state),
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
    heard,
    jumps,
    setAtTop,
    jump: () => setJumps((count) => count + 1),
  };
}
