import { useQueryClient } from '@tanstack/react-query';
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { useCan } from '../../../api/session.ts';
import { joinNames } from '../../../components/actor.tsx';
import { density } from '../../../components/preference.ts';
import type { ListState } from './list-state.ts';
import { OrderRow } from './order-row.tsx';

/** Row heights in pixels; `order-row.css` has the same values. */
const ROW_HEIGHTS = {
  comfortable: { oneLine: 44, twoLines: 68 },
  compact: { oneLine: 34, twoLines: 56 },
};

/** The names of the other reviewers by the order that they have open. */
function useViewersByOrder(viewers: ListState['live']['updates']['viewers']): ReadonlyMap<number, string> {
  return useMemo(() => {
    const byOrder = Map.groupBy(viewers ?? [], ({ order_id }) => order_id);
    return new Map(
      [...byOrder].flatMap(([id, all]) => (id === null ? [] : [[id, joinNames(all.map(({ name }) => name))]])),
    );
  }, [viewers]);
}

/** A virtualized list: of tens of thousands of orders, only visible rows are in the document. */
export function OrderList(props: ListState & { label: string }): ReactNode {
  const { live, selection, navigation, url, isCompact } = props;
  const { list, orders, jumps, setAtTop: onTop } = live;
  const { currentId, moves } = navigation;
  const viewers = useViewersByOrder(live.updates.viewers);
  const mayLoad = list.hasNextPage && !list.isFetching && !list.isFetchNextPageError;
  const can = useCan();
  const scroller = useRef<HTMLDivElement>(null);
  const heights = ROW_HEIGHTS[density.use()];
  const height = isCompact ? heights.twoLines : heights.oneLine;
  const currentIndex = orders.findIndex(({ order_id }) => order_id === currentId);
  // The current row, or else the first, stays rendered out of sight so that it keeps the focus or can get it.
  const kept = Math.max(0, currentIndex);
  const rangeExtractor = useCallback(
    (range: Range) => [...new Set([kept, ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
    [kept],
  );
  const virtualizer = useVirtualizer({
    count: orders.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => orders[index]?.order_id ?? index,
    overscan: 8,
    rangeExtractor,
  });
  const rows = virtualizer.getVirtualItems();

  const heightBefore = useRef(height);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of height invalidates the measurements.
  useLayoutEffect(() => {
    if (scroller.current) keepInPlace(scroller.current, currentIndex, orders.length, heightBefore.current, height);
    heightBefore.current = height;
    virtualizer.measure();
  }, [height]);
  useScrollMemory(scroller, ['list position', url.accountId, url.filters], height, onTop);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only keyboard moves scroll the list and move the focus.
  useEffect(() => {
    if (moves === 0 || currentIndex < 0) return;
    virtualizer.scrollToIndex(currentIndex, { align: 'auto' });
    scroller.current
      ?.querySelector<HTMLElement>(`[data-order="${currentId}"] .order-number`)
      ?.focus({ preventScroll: true });
  }, [moves]);

  const jumpsBefore = useRef(jumps);
  useEffect(() => {
    if (jumps !== jumpsBefore.current) scroller.current?.scrollTo({ top: 0 });
    jumpsBefore.current = jumps;
  }, [jumps]);

  const lastInSight = virtualizer.range?.endIndex ?? 0;
  useEffect(() => {
    if (mayLoad && lastInSight >= orders.length - 30) void list.fetchNextPage();
  }, [mayLoad, list.fetchNextPage, lastInSight, orders.length]);

  return (
    <div
      ref={scroller}
      className="order-scroll"
      onScroll={(event) => onTop(event.currentTarget.scrollTop < height / 2)}
    >
      <ul
        className={isCompact ? 'plain order-list is-compact' : 'plain order-list'}
        style={{ height: virtualizer.getTotalSize() }}
        aria-label={props.label}
      >
        {rows.map(({ index, start }) => {
          const order = orders[index];
          if (!order) return null;
          return (
            <OrderRow
              key={order.order_id}
              order={order}
              href={url.addressOf(order.order_id)}
              top={start}
              position={index + 1}
              total={mayLoad ? -1 : orders.length}
              isCurrent={order.order_id === currentId}
              isEntrance={index === kept}
              isOpen={order.order_id === url.openId}
              isSelectable={can('review')}
              isSelected={selection.selected.has(order.order_id)}
              viewers={viewers.get(order.order_id)}
              target={live.updates.target}
              onSelect={selection.toggle}
              onVisit={navigation.visit}
            />
          );
        })}
      </ul>
    </div>
  );
}

/** Keeps the current row, or else the first one in sight, where it is when the rows change their height. */
function keepInPlace(list: HTMLElement, current: number, count: number, before: number, after: number): void {
  if (before === after) return;
  const top = list.scrollTop;
  const isInSight = current * before > top - before && current * before < top + list.clientHeight;
  const index = isInSight ? current : Math.floor(top / before);
  // The list must be high enough before it can be scrolled; the next render sets the same height.
  if (list.firstElementChild instanceof HTMLElement) list.firstElementChild.style.height = `${count * after}px`;
  list.scrollTop = top + index * (after - before);
}

/** Restores the scroll position that the list had when it was left, in rows from its top. */
function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  key: readonly unknown[],
  height: number,
  onTop: (isAtTop: boolean) => void,
): void {
  const queryClient = useQueryClient();
  const rowHeight = useRef(height);
  rowHeight.current = height;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a list is entered and left once.
  useLayoutEffect(() => {
    const list = scroller.current;
    if (!list) return;
    list.scrollTop = (queryClient.getQueryData<number>(key) ?? 0) * height;
    onTop(list.scrollTop < height / 2);
    return () => {
      queryClient.setQueryData(key, list.scrollTop / rowHeight.current);
    };
  }, []);
}
