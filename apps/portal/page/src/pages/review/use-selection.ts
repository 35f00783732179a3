import { useCallback, useMemo, useRef, useState } from 'react';
import type { ListedOrder } from '../../api/review.ts';

/** Which of the orders are ticked, to act on several at once. */
export function useSelection(orders: readonly ListedOrder[]) {
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const anchor = useRef<number | null>(null);
  // One that has left the list is no longer meant.
  const ids = useMemo(() => orders.map(({ order_id }) => order_id).filter((id) => ticked.has(id)), [orders, ticked]);
  const selected = useMemo(() => new Set(ids), [ids]);
  /** Ticks or unticks one; with `range`, all from the one before to this one alike. */
  const toggle = useCallback(
    (id: number, range = false) => {
      const from = range ? orders.findIndex(({ order_id }) => order_id === anchor.current) : -1;
      const to = orders.findIndex(({ order_id }) => order_id === id);
      const meant = from < 0 ? orders.slice(to, to + 1) : orders.slice(Math.min(from, to), Math.max(from, to) + 1);
      anchor.current = id;
      setTicked((before) => {
        const after = new Set(before);
        for (const { order_id } of meant) before.has(id) ? after.delete(order_id) : after.add(order_id);
        return after;
      });
    },
    [orders],
  );
  const selectAll = useCallback(() => setTicked(new Set(orders.map(({ order_id }) => order_id))), [orders]);
  const clear = useCallback(() => setTicked(new Set()), []);
  return { ids, selected, toggle, selectAll, clear };
}
