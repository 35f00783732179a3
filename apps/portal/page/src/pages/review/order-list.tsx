import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedOrder } from '../../api/review.ts';
import { OrderRow } from './order-row.tsx';

/** The heights of a row, in pixels; the same stand in `list.css`. */
const ONE_LINE = 44;
const TWO_LINES = 68;

export interface OrderListProps {
  orders: ListedOrder[];
  addressOf: (id: number) => string;
  currentId: number | null;
  openId: number | null;
  selected: ReadonlySet<number>;
  isCompact: boolean;
  /** Counts how often the current order was moved by keyboard: the focus follows. */
  moves: number;
  onSelect: (id: number, range: boolean) => void;
  onVisit: (id: number) => void;
  onTop: (isAtTop: boolean) => void;
  /** More is wanted: the end of what is loaded is near. Undefined where there is no more, or it is on its way. */
  loadMore: (() => void) | undefined;
  /** Counts how often the top was asked for. */
  jumps: number;
}

/** Tens of thousands of orders, of which only those in sight are in the document. */
export function OrderList(props: OrderListProps): ReactNode {
  const { orders, addressOf, currentId, openId, selected, isCompact, moves, jumps, loadMore, onTop } = props;
  const { t } = useTranslation('review');
  const scroller = useRef<HTMLDivElement>(null);
  const height = isCompact ? TWO_LINES : ONE_LINE;
  const currentIndex = orders.findIndex(({ order_id }) => order_id === currentId);
  // The row that the focus is in must not go away when it is scrolled out of sight; the first one is the way in.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of height is all that makes the measured ones wrong.
  useEffect(() => {
    virtualizer.measure();
    if (currentIndex >= 0) virtualizer.scrollToIndex(currentIndex, { align: 'auto' });
  }, [height]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the keyboard takes the list and the focus along.
  useEffect(() => {
    if (moves === 0 || currentIndex < 0) return;
    virtualizer.scrollToIndex(currentIndex, { align: 'auto' });
    scroller.current
      ?.querySelector<HTMLElement>(`[data-order="${currentId}"] .order-number`)
      ?.focus({ preventScroll: true });
  }, [moves]);

  useEffect(() => {
    if (jumps > 0) scroller.current?.scrollTo({ top: 0 });
  }, [jumps]);

  const lastInSight = virtualizer.range?.endIndex ?? 0;
  useEffect(() => {
    if (loadMore && lastInSight >= orders.length - 30) loadMore();
  }, [loadMore, lastInSight, orders.length]);

  return (
    <div
      ref={scroller}
      className="order-scroll"
      onScroll={(event) => onTop(event.currentTarget.scrollTop < height / 2)}
    >
      <ul
        className={isCompact ? 'plain order-list is-compact' : 'plain order-list'}
        style={{ height: virtualizer.getTotalSize() }}
        aria-label={t('list.label')}
      >
        {rows.map(({ index, start }) => {
          const order = orders[index];
          if (!order) return null;
          return (
            <OrderRow
              key={order.order_id}
              order={order}
              href={addressOf(order.order_id)}
              top={start}
              position={index + 1}
              total={loadMore ? -1 : orders.length}
              isCurrent={order.order_id === currentId}
              isEntrance={index === kept}
              isOpen={order.order_id === openId}
              isSelected={selected.has(order.order_id)}
              onSelect={props.onSelect}
              onVisit={props.onVisit}
            />
          );
        })}
      </ul>
    </div>
  );
}
