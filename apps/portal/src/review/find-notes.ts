import type { Database } from '@orders/database/connect.ts';
import type { ListedOrder } from '@orders/database/orders/order-rows.ts';
import { run } from '@orders/database/run.ts';
import { type ChangedDeliveryState, markChangedDeliveries } from './find-changed-deliveries.ts';
import { findWithSimilar } from './find-similar.ts';
import { findSnoozes, type Snooze } from './find-snoozes.ts';

/** A reviewer's note about an order. */
export interface Note {
  note_id: number;
  at: Date;
  by: string;
  text: string;
}

/** Bounds the response, as an order can be annotated without end. */
const MAX_NOTES = 200;

const FIND = {
  name: 'find-notes',
  text: `
select note_id, at, by, text from (
  select note_id, at, by, text from order_notes
  where account_id = $1::int and order_id = $2::bigint order by note_id desc limit ${MAX_NOTES}
) as newest
order by note_id`,
};

/** The last 200 notes of an order of this account, oldest first. */
export async function findNotes(database: Database, accountId: number, orderId: number): Promise<Note[]> {
  return run<Note>(database, FIND, [accountId, orderId]);
}

const COUNT = {
  name: 'count-notes',
  text: `
select order_id, count(*) as notes from order_notes
where account_id = $1::int and order_id = any($2::bigint[]) group by order_id`,
};

/** The numbers of notes of those orders of this account that have one. */
export async function countNotes(
  database: Database,
  accountId: number,
  orderIds: readonly number[],
): Promise<Map<number, number>> {
  const rows = await run<{ order_id: number; notes: number }>(database, COUNT, [accountId, orderIds]);
  return new Map(rows.map(({ order_id, notes }) => [order_id, notes]));
}

/** What other tables and orders tell about a listed order. */
export interface ListMarks {
  /** Whether it was sent again with other content; null if not. */
  resent: ChangedDeliveryState | null;
  note_count: number;
  /** While it is snoozed, and for a day after that. */
  snooze: Snooze | null;
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
  const [resent, notes, snoozes, similar] = await Promise.all([
    markChangedDeliveries(database, accountId, orders),
    countNotes(database, accountId, ids),
    findSnoozes(database, accountId, ids),
    findWithSimilar(database, accountId, orders),
  ]);
  return resent.map((order) => {
    const { order_id } = order;
    const [note_count, snooze] = [notes.get(order_id) ?? 0, snoozes.get(order_id) ?? null];
    return { ...order, note_count, snooze, similar: similar.has(order_id) };
  });
}
