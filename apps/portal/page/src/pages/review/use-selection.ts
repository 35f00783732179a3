import { useCallback, useMemo, useRef, useState } from 'react';
import type { ListedOrder } from '../../api/review.ts';
import type { Filters } from './filters.ts';

const NONE: ReadonlySet<number> = new Set();

/** The selection of orders for bulk actions: listed ones only. It ends when the filters change. */
export function useSelection(orders: readonly ListedOrder[], filters: Filters) {
  const [{ selected, of }, setSelection] = useState({ selected: NONE, of: filters });
  const anchor = useRef<number | null>(null);
  const ids = useMemo(
    () => (of === filters ? orders.map(({ order_id }) => order_id).filter((id) => selected.has(id)) : []),
    [orders, selected, of, filters],
  );
  // An order that left the list must not be selected when it returns unnoticed.
  if (of !== filters || ids.length < selected.size) setSelection({ selected: new Set(ids), of: filters });
  const select = useCallback(
    (ids: Iterable<number>) => setSelection({ selected: new Set(ids), of: filters }),
    [filters],
  );
  /** Toggles one order; with `range`, each order from the previously toggled one to this one. */
  const toggle = useCallback(
    (id: number, range = false) => {
      const from = range ? orders.findIndex(({ order_id }) => order_id === anchor.current) : -1;
      const to = orders.findIndex(({ order_id }) => order_id === id);
      const affected = from < 0 ? orders.slice(to, to + 1) : orders.slice(Math.min(from, to), Math.max(from, to) + 1);
      anchor.current = id;
      setSelection((before) => {
        const after = new Set(before.selected);
        for (const { order_id } of affected) before.selected.has(id) ? after.delete(order_id) : after.add(order_id);
        return { ...before, selected: after };
      });
    },
    [orders],
  );
  const selectAll = useCallback(() => select(orders.map(({ order_id }) => order_id)), [select, orders]);
  const clear = useCallback(() => select(NONE), [select]);
  return { ids, selected, toggle, selectAll, clear };
}
