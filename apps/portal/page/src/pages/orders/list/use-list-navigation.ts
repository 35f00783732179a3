import { useEffect, useRef, useState } from 'react';
import type { ListedOrder } from '../../../api/review.ts';

interface ReviewUrl {
  openId: number | null;
  open(orderId: number | null, options?: { replace?: boolean }): void;
}

/** The current order: the open one or, in the list, the one that the keyboard moved to. */
export function useListNavigation(orders: readonly ListedOrder[], { openId, open }: ReviewUrl) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [moves, setMoves] = useState(0);
  // An order that left the list must not become current again when it returns unnoticed.
  if (cursor !== null && !orders.some(({ order_id }) => order_id === cursor)) setCursor(null);
  const currentId = openId ?? cursor;
  const index = orders.findIndex(({ order_id }) => order_id === currentId);
  const painting = usePainting(moves);

  /** Scrolls the list to the current order. */
  const reveal = () => setMoves((count) => count + 1);
  /** Makes an order current and focuses it; replaces the open order, if any. */
  const moveTo = (id: number | null) => {
    setCursor(id);
    reveal();
    if (openId !== null) open(id, { replace: true });
  };
  const step = (by: 1 | -1) => {
    const next = orders[index < 0 ? 0 : index + by];
    if (next) moveTo(next.order_id);
  };
  /** Moves off orders that are about to leave the list: to the next that stays, or else to the one before. */
  const moveOff = (leaving: ReadonlySet<number>) => {
    if (currentId === null || !leaving.has(currentId)) return;
    const stays = ({ order_id }: ListedOrder) => !leaving.has(order_id);
    const next = index < 0 ? undefined : (orders.slice(index).find(stays) ?? orders.slice(0, index).findLast(stays));
    painting.begin();
    moveTo(next?.order_id ?? null);
  };
  /** Opens an order in place of the open one, if any. */
  const go = (id: number) => (openId === null ? enter(id) : moveTo(id));
  const close = () => {
    setCursor(openId);
    reveal();
    open(null);
  };
  /** Opens an order of the list from the keyboard. */
  const enter = (id: number) => {
    setCursor(id);
    reveal();
    open(id);
  };
  return { currentId, moves, step, moveOff, close, enter, go, reveal, visit: setCursor, isPainted: painting.isOver };
}

/** Whether the order that became current by itself was on the screen. A second key press before that would decide about it unseen. */
function usePainting(moves: number) {
  const isPending = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move paints another current order.
  useEffect(() => {
    // The first callback runs before the paint, the second after it.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        isPending.current = false;
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [moves]);
  return {
    begin: () => {
      isPending.current = true;
    },
    isOver: () => !isPending.current,
  };
}

/** Whether an order's row is inside the visible part of the list. */
export function isRowInSight(orderId: number): boolean {
  const row = document.querySelector(`[data-order="${orderId}"]`);
  const list = row?.closest('.order-scroll');
  if (!row || !list) return false;
  const [{ top, bottom }, frame] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
  return bottom > frame.top + ROW_PART && top < frame.bottom - ROW_PART;
}

/** In pixels; a row with less of it visible does not count as seen. */
const ROW_PART = 24;
