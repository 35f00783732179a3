import { useCallback, useState } from 'react';
import type { ListedOrder } from '../../api/review.ts';

interface ReviewUrl {
  openId: number | null;
  open(orderId: number | null, options?: { replace?: boolean }): void;
}

/** The current order: the open one or, in the list, the one that the keyboard moved to. */
export function useListNavigation(orders: readonly ListedOrder[], { openId, open }: ReviewUrl) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [moves, setMoves] = useState(0);
  const currentId = openId ?? cursor;
  const index = orders.findIndex(({ order_id }) => order_id === currentId);

  /** Makes an order current and focuses it; replaces the open order, if any. */
  const moveTo = useCallback(
    (id: number | null) => {
      setCursor(id);
      setMoves((count) => count + 1);
      if (openId !== null) open(id, { replace: true });
    },
    [openId, open],
  );
  const step = (by: 1 | -1) => {
    const next = orders[index < 0 ? 0 : index + by];
    if (next) moveTo(next.order_id);
  };
  /** Moves off orders that are about to leave the list: to the next that stays, or else to the one before. */
  const moveOff = (leaving: ReadonlySet<number>) => {
    if (currentId === null || !leaving.has(currentId)) return;
    const stays = ({ order_id }: ListedOrder) => !leaving.has(order_id);
    const next = index < 0 ? undefined : (orders.slice(index).find(stays) ?? orders.slice(0, index).findLast(stays));
    moveTo(next?.order_id ?? null);
  };
  const close = () => {
    setCursor(openId);
    setMoves((count) => count + 1);
    open(null);
  };
  return { currentId, moves, step, moveOff, close, visit: setCursor };
}
