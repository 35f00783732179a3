import { type Difference, type Item, MAX_ITEMS, normalizeOrder, parseBody } from '@orders/domain';
import type { Database } from '../connect.ts';
import type { OrderJson } from '../orders/orders.ts';
import { findReceiptBody } from '../receipts/find-receipt.ts';
import type { Resend } from './find-resends.ts';

/** Whether it is a change of one item. */
export const isOfItem = ({ pointer }: Difference): boolean => pointer.startsWith('/items/');

/**
 * All items as one change: a pointer into them meets another one where those that the resend changed are no longer
 * called what they were, or have another value than it was.
 *
 * @returns null where each pointer leads to the item that is meant.
 */
export function takeWhole(
  now: readonly Item[],
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
    (['name', 'sku', member] as const).every((one) => now[index]?.[one] === before[index]?.[one]),
  );
  // An order written before items were limited may have more than any resend can.
  if (changed.length === 0 || (areSame && Math.min(now.length, MAX_ITEMS) === resent.length)) return null;
  return { pointer: '/items', from: before, to: [...resent] };
}

/**
 * What accepting this resend makes of the order: its changes, or all its items in the place of some, as `takeWhole`
 * has it.
 */
export async function findAcceptable(
  database: Database,
  order: Pick<OrderJson, 'account_id' | 'items'>,
  { receipt_id, changes }: Pick<Resend, 'receipt_id' | 'changes'>,
): Promise<Difference[]> {
  const ofItems = changes.filter(isOfItem);
  const body = ofItems.length > 0 && (await findReceiptBody(database, order.account_id, receipt_id));
  const whole = body && takeWhole(order.items, normalizeOrder(parseBody(body)).order.items, ofItems);
  return whole ? [...changes.filter((change) => !isOfItem(change)), whole] : changes;
}
