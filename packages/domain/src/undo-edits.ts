import type { OrderEdits } from './apply-edits.ts';
import { compareOrders } from './compare-orders.ts';
import type { ItemOrigin } from './edit-items.ts';
import { MAX_ITEMS } from './normalize/limits.ts';
import type { Item, Order } from './order.ts';

/**
 * The edits that restore an order.
 *
 * @param origins of the items after the edit; null if all items were edited as one field.
 */
export function undoEdits(before: Order, after: Order, origins: readonly ItemOrigin[] | null): OrderEdits {
  const undo: OrderEdits = {};
  for (const { pointer, from } of compareOrders({ ...before, items: [] }, { ...after, items: [] })) {
    // The code follows from the name.
    if (pointer === '/emirate_code') undo['/emirate'] = before.emirate;
    else undo[pointer] = from;
  }
  return {
    ...undo,
    ...(origins ? undoItems(before.items, after.items, origins) : allItems(before.items, after.items)),
  };
}

function allItems(before: readonly Item[], after: readonly Item[]): OrderEdits {
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  return isSame ? {} : { '/items': before.slice(0, MAX_ITEMS) };
}

function undoItems(before: readonly Item[], after: readonly Item[], origins: readonly ItemOrigin[]): OrderEdits {
  const undo: OrderEdits = {};
  const kept = new Set<number>();
  for (const [index, origin] of origins.entries()) {
    if ('added' in origin) {
      undo[`/items/${index}`] = null;
      continue;
    }
    kept.add(origin.stored);
    for (const member of ['name', 'quantity', 'sku'] as const) {
      const value = before[origin.stored]?.[member];
      if (value !== after[index]?.[member]) undo[`/items/${index}/${member}`] = value;
    }
  }
  for (const [index, item] of before.slice(0, MAX_ITEMS).entries()) {
    if (kept.has(index)) continue;
    // One was removed and another one added at its index, which one edit cannot say.
    if (`/items/${index}` in undo) return allItems(before, after);
    undo[`/items/${index}`] = item;
  }
  return undo;
}
