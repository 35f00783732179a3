import { isDeepStrictEqual } from 'node:util';
import {
  type CustomerSearch,
  normalizeOrder,
  type Order,
  type OrderChange,
  type ReviewState,
  redactOrder,
} from '@orders/domain';
import type { Knex } from 'knex';
import { type OrderRow, toJson, toOrder } from '../orders/orders.ts';
import { payloadOf, readReceipts, type StoredReceipt, walkReceipts, withBodies } from './walk-receipts.ts';

/** Orders, or events of the log, that one statement reads. */
const PAGE = 2000;

/** How much was looked through so far. */
export interface Examined {
  orders: number;
  receipts: number;
}

/** All that an account has of one order: receipts of the same `source_order_id` may tell of one customer in different spellings. */
export interface CustomerOrder {
  sourceOrderId: string;
  /** Ascending. */
  receiptIds: string[];
  /** Null while it is not written. */
  reviewState: ReviewState | null;
}

/**
 * Finds what an account has of a customer, by going through all of its orders, what people changed in them, and its receipts. It locks
 * nothing, and reads a bounded number at a time.
 *
 * @param onProgress is told after each page.
 */
export async function findCustomer(
  db: Knex,
  accountId: number,
  search: CustomerSearch,
  onProgress: (examined: Readonly<Examined>) => void = () => {},
): Promise<{ found: CustomerOrder[]; examined: Examined }> {
  const examined = { orders: 0, receipts: 0 };
  const found = new Map<string, CustomerOrder>();
  const add = (sourceOrderId: string) => {
    if (!found.has(sourceOrderId)) found.set(sourceOrderId, { sourceOrderId, receiptIds: [], reviewState: null });
  };
  for await (const rows of walkOrders(db, accountId)) {
    for (const row of rows) if (isOrderAbout(row, search)) add(row.source_order_id);
    examined.orders += rows.length;
    onProgress(examined);
  }
  for (const sourceOrderId of await findChanged(db, accountId, search)) add(sourceOrderId);
  for await (const ids of walkReceipts(db, accountId)) {
    for await (const receipts of readReceipts(db, accountId, ids)) {
      for (const receipt of await withBodies(db, accountId, receipts))
        if (isReceiptAbout(receipt, search)) add(receipt.source_order_id);
    }
    examined.receipts += ids.length;
    onProgress(examined);
  }
  if (found.size > 0) await complete(db, accountId, found);
  return { found: [...found.values()], examined };
}

/** Once it is known which orders they are: all of their receipts, also those in which the customer is not mentioned. */
async function complete(db: Knex, accountId: number, found: ReadonlyMap<string, CustomerOrder>): Promise<void> {
  for await (const ids of walkReceipts(db, accountId)) {
    for await (const receipts of readReceipts(db, accountId, ids))
      for (const receipt of receipts) found.get(receipt.source_order_id)?.receiptIds.push(receipt.receipt_id);
  }
  const written: { source_order_id: string; review_state: ReviewState }[] = await db('orders')
    .where({ account_id: accountId })
    .whereRaw('source_order_id = any(?::text[])', [[...found.keys()]])
    .select('source_order_id', 'review_state');
  for (const { source_order_id, review_state } of written) {
    const order = found.get(source_order_id);
    if (order) order.reviewState = review_state;
  }
}

type StoredOrder = OrderRow & { review_reason: string | null; erased_at: Date | null };

async function* walkOrders(db: Knex, accountId: number): AsyncGenerator<StoredOrder[]> {
  for (let after = 0; ; ) {
    const rows: StoredOrder[] = await db('orders')
      .where({ account_id: accountId })
      .andWhere('order_id', '>', after)
      .orderBy('order_id')
      .limit(PAGE);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.order_id;
  }
}

function isOrderAbout(row: StoredOrder, search: CustomerSearch): boolean {
  const order = toOrder(toJson(row));
  if (row.erased_at !== null) return !isRedacted(order, search);
  return search.isCustomer(order.customer) || search.isMentioned({ ...order, reason: row.review_reason });
}

function isReceiptAbout({ body, erased_at, source_order_id }: StoredReceipt, search: CustomerSearch): boolean {
  if (body === null) return false;
  const payload = payloadOf({ source_order_id, body });
  const { order } = normalizeOrder(payload);
  if (erased_at !== null) return !isRedacted(order, search);
  return search.isCustomer(order.customer) || search.isMentioned(payload);
}

/** Whether erasing the customer changes nothing of this order. Its `source_order_id` stays, so it may go on mentioning them. */
export function isRedacted(order: Order, search: CustomerSearch): boolean {
  return isDeepStrictEqual(redactOrder(order, search), order);
}

/** Orders that said of the customer before or after somebody changed them, by the log: their payload may be gone. */
async function findChanged(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after = 0, count = PAGE; count === PAGE; ) {
    const events: { event_id: number; subject: string; details: Details | null }[] = await db('audit_events')
      .where({ account_id: accountId })
      .whereIn('action', ['order_edited', 'order_rejected'])
      .andWhere('event_id', '>', after)
      .orderBy('event_id')
      .limit(PAGE)
      .select('event_id', 'subject', 'details');
    for (const { subject, details } of events)
      if (details && isChangeAbout(details, search)) orderIds.add(Number(subject.replace('order:', '')));
    count = events.length;
    after = events.at(-1)?.event_id ?? after;
  }
  const orders = db('orders').where({ account_id: accountId });
  return orders.whereRaw('order_id = any(?::bigint[])', [[...orderIds]]).pluck('source_order_id');
}

type Details = { changes?: OrderChange[]; reason?: string };

const CUSTOMER = /^\/customer\/(phone|email|id)$/;

function isChangeAbout({ changes = [], reason }: Details, search: CustomerSearch): boolean {
  return (
    search.isMentioned([reason, ...changes.flatMap(({ before, after }) => [before, after])]) ||
    changes.some(({ pointer, before, after }) => {
      const [, member] = CUSTOMER.exec(pointer) ?? [];
      return member && [before, after].some((value) => search.isCustomer({ [member]: value }));
    })
  );
}
