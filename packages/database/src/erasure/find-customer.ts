import { isDeepStrictEqual } from 'node:util';
import {
  type CustomerSearch,
  type Difference,
  normalizeOrder,
  type Order,
  type OrderChange,
  type ReviewState,
  redactOrder,
} from '@orders/domain';
import type { Knex } from 'knex';
import { type OrderRow, toJson, toOrder } from '../orders/orders.ts';
import { FIRST_UUID, payloadOf, readReceipts, type StoredReceipt, scanReceipts, withBodies } from './scan-receipts.ts';

/** Orders, or events of the log, that one statement reads: each may be as large as a body. */
const PAGE = 100;

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
  /** The last of the receipts that the customer was found in, if any. */
  foundBy: string | null;
  /**
   * Names of the fields in which they were found, none of a sender's own members; `history` is the log of what people did to it, `resends`
   * what was sent again of it.
   */
  matched: Set<string>;
  /** These two are null while it is not written. */
  orderId: number | null;
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
  const add = (sourceOrderId: string, matched: readonly string[], receiptId: string | null = null) => {
    if (matched.length === 0) return;
    const one = found.get(sourceOrderId) ?? newlyFound(sourceOrderId);
    for (const field of matched) one.matched.add(field);
    one.foundBy = receiptId ?? one.foundBy;
    found.set(sourceOrderId, one);
  };
  for await (const rows of walkOrders(db, accountId)) {
    for (const row of rows) add(row.source_order_id, whereInOrder(row, search));
    examined.orders += rows.length;
    onProgress(examined);
  }
  for (const sourceOrderId of await findInHistory(db, accountId, search)) add(sourceOrderId, ['history']);
  for (const sourceOrderId of await findInResends(db, accountId, search)) add(sourceOrderId, ['resends']);
  for await (const ids of scanReceipts(db, accountId)) {
    for await (const receipts of readReceipts(db, accountId, ids)) {
      for (const receipt of await withBodies(db, accountId, receipts))
        add(receipt.source_order_id, whereInReceipt(receipt, search), receipt.receipt_id);
    }
    examined.receipts += ids.length;
    onProgress(examined);
  }
  if (found.size > 0) await complete(db, accountId, found);
  return { found: [...found.values()], examined };
}

function newlyFound(sourceOrderId: string): CustomerOrder {
  return { sourceOrderId, receiptIds: [], foundBy: null, matched: new Set(), orderId: null, reviewState: null };
}

/** Once it is known which orders they are: all of their receipts, also those in which the customer is not mentioned. */
async function complete(db: Knex, accountId: number, found: ReadonlyMap<string, CustomerOrder>): Promise<void> {
  for await (const ids of scanReceipts(db, accountId)) {
    for await (const receipts of readReceipts(db, accountId, ids))
      for (const receipt of receipts) found.get(receipt.source_order_id)?.receiptIds.push(receipt.receipt_id);
  }
  const written: { source_order_id: string; order_id: number; review_state: ReviewState }[] = await db('orders')
    .where({ account_id: accountId })
    .whereRaw('source_order_id = any(?::text[])', [[...found.keys()]])
    .select('source_order_id', 'order_id', 'review_state');
  for (const { source_order_id, order_id, review_state } of written) {
    const order = found.get(source_order_id);
    if (order) Object.assign(order, { orderId: order_id, reviewState: review_state });
  }
}

/** An order with what people did to it. */
export type StoredOrder = OrderRow & { review_reason: string | null; erased_at: Date | null };

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

function whereInOrder(row: StoredOrder, search: CustomerSearch): string[] {
  const order = toOrder(toJson(row));
  const { review_reason } = row;
  if (row.erased_at === null) return search.whereIn(order, { ...order, review_reason });
  return [...notRedacted(order, search.isMentioned), ...(search.isMentioned(review_reason) ? ['review_reason'] : [])];
}

function whereInReceipt({ body, erased_at, source_order_id }: StoredReceipt, search: CustomerSearch): string[] {
  if (body === null) return [];
  const payload = payloadOf({ source_order_id, body });
  const { order } = normalizeOrder(payload);
  return erased_at === null ? search.whereIn(order, payload) : notRedacted(order, search.isMentioned);
}

/** Whether erasing the customer changes nothing of this order. Its `source_order_id` stays, so it may go on mentioning them. */
export function isRedacted(order: Order, isMentioned: (text: string) => boolean): boolean {
  return notRedacted(order, isMentioned).length === 0;
}

function notRedacted(order: Order, isMentioned: (text: string) => boolean): string[] {
  const redacted = redactOrder(order, isMentioned);
  const fields = Object.keys(redacted) as (keyof Order)[];
  return fields.filter((field) => !isDeepStrictEqual(redacted[field], order[field]));
}

/** Orders about which the log says something of the customer, such as what somebody changed: their payload may be gone. */
async function findInHistory(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after = 0, count = PAGE; count === PAGE; ) {
    const events: { event_id: number; subject: string; details: Details | null }[] = await db('audit_events')
      .where({ account_id: accountId })
      .whereLike('subject', 'order:%')
      .andWhere('event_id', '>', after)
      .orderBy('event_id')
      .limit(PAGE)
      .select('event_id', 'subject', 'details');
    for (const { subject, details } of events)
      if (details && isEventAbout(details, search)) orderIds.add(Number(subject.replace('order:', '')));
    count = events.length;
    after = events.at(-1)?.event_id ?? after;
  }
  return sourceIdsOf(db, accountId, orderIds);
}

/** Orders of which something was sent again with other content, also where both payloads are gone. */
async function findInResends(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after: [number, string] = [0, FIRST_UUID], count = PAGE; count === PAGE; ) {
    const resends: { order_id: number; receipt_id: string; changes: Difference[] }[] = await db('resends')
      .where({ account_id: accountId })
      .whereNotNull('changes')
      .whereRaw('(order_id, receipt_id) > (?::bigint, ?::uuid)', after)
      .orderBy(['order_id', 'receipt_id'])
      .limit(PAGE)
      .select('order_id', 'receipt_id', 'changes');
    for (const { order_id, changes } of resends) {
      const events = changes.map(({ pointer, from, to }) => ({ pointer, before: from, after: to }));
      if (isEventAbout({ changes: events }, search)) orderIds.add(order_id);
    }
    count = resends.length;
    const last = resends.at(-1);
    if (last) after = [last.order_id, last.receipt_id];
  }
  return sourceIdsOf(db, accountId, orderIds);
}

async function sourceIdsOf(db: Knex, accountId: number, orderIds: ReadonlySet<number>): Promise<string[]> {
  const orders = db('orders').where({ account_id: accountId });
  return orders.whereRaw('order_id = any(?::bigint[])', [[...orderIds]]).pluck('source_order_id');
}

type Details = { changes?: OrderChange[]; reason?: string };

const CUSTOMER = /^\/customer\/(phone|email|id)$/;

function isEventAbout({ changes = [], reason }: Details, search: CustomerSearch): boolean {
  return (
    search.isMentioned(reason) ||
    changes.some(({ pointer, before, after }) => {
      const [, member] = CUSTOMER.exec(pointer) ?? [];
      // By the name of the field, which says what its digits are.
      const field = pointer.slice(pointer.lastIndexOf('/') + 1);
      if (search.isMentioned([{ [field]: before }, { [field]: after }])) return true;
      return member && [before, after].some((value) => search.isCustomer({ [member]: value }));
    })
  );
}
