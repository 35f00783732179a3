import { useCallback, useMemo, useRef, useState } from 'react';
import type { ListedOrder } from '../../api/review.ts';

/** The selection of orders for bulk actions. */
export function useSelection(orders: readonly ListedOrder[]) {
  const [checked, setChecked] = useState<ReadonlySet<number>>(new Set());
  const anchor = useRef<number | null>(null);
  // Excludes checked orders that have left the list.
  const ids = useMemo(() => orders.map(({ order_id }) => order_id).filter((id) => checked.has(id)), [orders, checked]);
  const selected = useMemo(() => new Set(ids), [ids]);
  /** Toggles one order; with `range`, each order from the previously toggled one to this one. */
  const toggle = useCallback(
    (id: number, range = false) => {
      const from = range ? orders.findIndex(({ order_id }) => order_id === anchor.current) : -1;
      const to = orders.findIndex(({ order_id }) => order_id === id);
      const affected = from < 0 ? orders.slice(to, to + 1) : orders.slice(Math.min(from, to), Math.max(from, to) + 1);
      anchor.current = id;
      setChecked((before) => {
        const after = new Set(before);
        for (const { order_id } of affected) before.has(id) ? after.delete(order_id) : after.add(order_id);
        return after;
      });
    },
    [orders],
  );
  const selectAll = useCallback(() => setChecked(new Set(orders.map(({ order_id }) => order_id))), [orders]);
  const clear = useCallback(() => setChecked(new Set()), []);
  return { ids, selected, toggle, selectAll, clear };
}
