import type { Database } from '@orders/database/connect.ts';
import type { ListedOrder } from '@orders/database/orders/order-rows.ts';
import { countNotes } from './find-notes.ts';
import { markResent, type ResendState } from './find-resends.ts';
import { findWithSimilar } from './find-similar.ts';

/** What other tables and orders tell about a listed order. */
export interface ListMarks {
  /** Whether it was sent again with other content; null if not. */
  resent: ResendState | null;
  note_count: number;
  /** Whether it has a likely duplicate. */
  similar: boolean;
}

/** Adds marks to the orders of a page of one account. */
export async function markListed<Order extends ListedOrder>(
  database: Database,
  accountId: number,
  orders: readonly Order[],
): Promise<(Order & ListMarks)[]> {
  if (orders.length === 0) return [];
  const ids = orders.map(({ order_id }) => order_id);
  const [resent, notes, similar] = await Promise.all([
    markResent(database, accountId, orders),
    countNotes(database, accountId, ids),
    findWithSimilar(database, accountId, orders),
  ]);
  return resent.map((order) => {
    const { order_id } = order;
    return { ...order, note_count: notes.get(order_id) ?? 0, similar: similar.has(order_id) };
  });
}
