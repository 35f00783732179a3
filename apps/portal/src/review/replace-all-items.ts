import type { Database } from '@orders/database/connect.ts';
import type { OrderJson } from '@orders/database/orders/order-rows.ts';
import { findReceiptBody } from '@orders/database/receipts/find-receipt.ts';
import type { Difference } from '@orders/domain/compare-orders.ts';
import { MAX_ITEMS } from '@orders/domain/interface-limits.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import type { Item } from '@orders/domain/order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import type { ChangedDelivery } from './find-changed-deliveries.ts';

/** Whether it changes a single item. */
export const isOfItem = ({ pointer }: Difference): boolean => pointer.startsWith('/items/');

/**
 * Replaces all items by one change. This is needed if pointers to single items no longer lead to the item that the changed delivery changed, because
 * its name, SKU or value is different now.
 *
 * @returns null when each pointer leads to the right item.
 */
export function replaceAllItems(
  current: readonly Item[],
  resent: readonly Item[],
  ofItems: readonly Difference[],
): Difference | null {
  const before: Item[] = structuredClone([...resent]);
  const changed = ofItems.map(({ pointer, from }) => {
    const [, , index = '', member = ''] = pointer.split('/');
    Object.assign(before[Number(index)] ?? {}, { [member]: from });
    return { index: Number(index), member: member as keyof Item };
  });
  const areSame = changed.every(({ index, member }) =>
    (['name', 'sku', member] as const).every((field) => current[index]?.[field] === before[index]?.[field]),
  );
  // An order that was written before items were limited can have more items than a changed delivery.
  if (changed.length === 0 || (areSame && Math.min(current.length, MAX_ITEMS) === resent.length)) return null;
  return { pointer: '/items', from: before, to: [...resent] };
}

/**
 * The changes that accepting this changed delivery would make; changes of single items can be one change of all items, see `replaceAllItems`.
 */
export async function findAcceptable(
  database: Database,
  order: Pick<OrderJson, 'account_id' | 'items'>,
  { receipt_id, changes }: Pick<ChangedDelivery, 'receipt_id' | 'changes'>,
): Promise<Difference[]> {
  const ofItems = changes.filter(isOfItem);
  const body = ofItems.length > 0 && (await findReceiptBody(database, order.account_id, receipt_id));
  const allItems = body && replaceAllItems(order.items, normalizeOrder(parseBody(body)).order.items, ofItems);
  return allItems ? [...changes.filter((change) => !isOfItem(change)), allItems] : changes;
}
