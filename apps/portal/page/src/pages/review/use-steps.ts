import { useCallback, useState } from 'react';
import type { ListedOrder } from '../../api/review.ts';

interface Place {
  openId: number | null;
  open(orderId: number | null, options?: { replace?: boolean }): void;
}

/** The order that a dispatcher is at: the open one or, with the list alone, the one that the keyboard went to. */
export function useSteps(orders: readonly ListedOrder[], { openId, open }: Place) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [moves, setMoves] = useState(0);
  const currentId = openId ?? cursor;
  const index = orders.findIndex(({ order_id }) => order_id === currentId);

  /** Goes there, with the focus; an order that is open gives way to it. */
  const goTo = useCallback(
    (id: number | null) => {
      setCursor(id);
      setMoves((count) => count + 1);
      if (openId !== null) open(id, { replace: true });
    },
    [openId, open],
  );
  const step = (by: 1 | -1) => {
    const next = orders[index < 0 ? 0 : index + by];
    if (next) goTo(next.order_id);
  };
  /** Leaves orders that are about to leave the list, for the next one that stays or, at its end, the one before. */
  const stepOff = (leaving: ReadonlySet<number>) => {
    if (currentId === null || !leaving.has(currentId)) return;
    const stays = ({ order_id }: ListedOrder) => !leaving.has(order_id);
    const next = index < 0 ? undefined : (orders.slice(index).find(stays) ?? orders.slice(0, index).findLast(stays));
    goTo(next?.order_id ?? null);
  };
  const close = () => {
    setCursor(openId);
    setMoves((count) => count + 1);
    open(null);
  };
  return { currentId, moves, step, stepOff, close, visit: setCursor };
}
