import { useCallback, useMemo, useRef, useState } from 'react';
import { callForFile } from '../../../api/client.ts';
import type { ListedOrder, ReviewState } from '../../../api/review.ts';
import type { MatchingIds } from '../../../api/review-list.ts';
import { saveFile } from '../../../components/save-file.ts';
import { useShowProblem } from '../../../components/use-show-problem.ts';
import type { Filters } from './filters.ts';

const NONE: ReadonlySet<number> = new Set();

/**
 * The selection of orders for bulk actions: listed ones or, on request, also ones that match but are not loaded (`isBeyond`). It ends when
 * the filters change.
 */
export function useSelection(
  orders: readonly ListedOrder[],
  filters: Filters,
  moved: ReadonlyMap<number, ReviewState>,
) {
  const [{ selected, isBeyond, of }, setSelection] = useState({ selected: NONE, isBeyond: false, of: filters });
  const anchor = useRef<number | null>(null);
  const ids = useMemo(() => {
    if (of !== filters) return [];
    if (isBeyond) return [...selected].filter((id) => (moved.get(id) ?? filters.state) === filters.state);
    return orders.map(({ order_id }) => order_id).filter((id) => selected.has(id));
  }, [orders, moved, selected, isBeyond, of, filters]);
  // An order that left the list must not be selected when it returns unnoticed.
  if (of !== filters || ids.length < selected.size)
    setSelection({ selected: new Set(ids), isBeyond: isBeyond && ids.length > 0, of: filters });
  const select = (ids: Iterable<number>, isBeyond = false) =>
    setSelection({ selected: new Set(ids), isBeyond, of: filters });
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
  const selectAll = () => select(orders.map(({ order_id }) => order_id));
  const beyond = useRef({ blocked: NONE, undecided: NONE });
  const selectBeyond = ({ order_ids, blocked_ids, undecided_ids }: MatchingIds) => {
    beyond.current = { blocked: new Set(blocked_ids), undecided: new Set(undecided_ids) };
    select(order_ids, true);
  };
  /** Whether an order that is not loaded cannot be delivered, or waits for a decision about a changed delivery. */
  const isBeyondAs = (id: number, as: 'blocked' | 'undecided') => isBeyond && beyond.current[as].has(id);
  const clear = () => select(NONE);
  return { ids, selected, isBeyond, isBeyondAs, toggle, selectAll, selectBeyond, clear };
}

/** Downloads the selected orders as a file for spreadsheets, or shows them for printing. */
export function useExports(accountId: number) {
  const showProblem = useShowProblem();
  const [printed, setPrinted] = useState<readonly number[] | null>(null);
  const download = (order_ids: readonly number[]) => {
    callForFile('POST', `/accounts/${accountId}/orders/export`, { body: { order_ids, format: 'csv' } }).then(
      (file) => saveFile(file, `orders-${new Date().toISOString().slice(0, 10)}.csv`),
      showProblem,
    );
  };
  return { printed, download, print: setPrinted, endPrinting: () => setPrinted(null) };
}
