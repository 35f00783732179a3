import { isDeepStrictEqual } from 'node:util';
import { type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { CustomerSearch } from '@orders/domain/customer-search.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import type { Order } from '@orders/domain/order.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { redactOrder } from '@orders/domain/redact-order.ts';
import { findInChangedDeliveries, findInHeldCancellations, findInHistory, findInNotes } from './find-in-changes.ts';
import { payloadOf, readReceipts, type StoredReceipt, scanReceipts, withBodies } from './scan-receipts.ts';

/** Orders per query; each can be as large as a body. */
const PAGE = 100;

/** Progress: numbers of examined rows. */
export interface Examined {
  orders: number;
  receipts: number;
}

/** An order of the customer with all its receipts; receipts of one `source_order_id` can spell the customer differently. */
export interface CustomerOrder {
  sourceOrderId: string;
  /** Ascending. */
  receiptIds: string[];
  /** The last receipt in which the customer was found, if any. */
  foundBy: string | null;
  /**
   * Names of the fields in which the customer was found, without members defined by the sender; `history` is the audit log, `resends` the
   * changes of changed deliveries, `notes` those of reviewers.
   */
  matched: Set<string>;
  /** This and the next are null while the order is not written. */
  orderId: number | null;
  reviewState: ReviewState | null;
}

/**
 * Finds a customer's orders by scanning all orders, held cancellations, audit events (also of cancellations), changed deliveries, notes and receipts
 * of an account. It takes no locks and reads bounded pages.
 *
 * @param onProgress is called after each page.
 */
export async function findCustomer(
  connection: Connection,
  accountId: number,
  search: CustomerSearch,
  onProgress: (examined: Readonly<Examined>) => void = () => {},
): Promise<{ found: CustomerOrder[]; examined: Examined }> {
  const examined = { orders: 0, receipts: 0 };
  const found = new Map<string, CustomerOrder>();
  const add = (sourceOrderId: string, matched: readonly string[], receiptId: string | null = null) => {
    if (matched.length === 0) return;
    const order = found.get(sourceOrderId) ?? emptyOrder(sourceOrderId);
    for (const field of matched) order.matched.add(field);
    order.foundBy = receiptId ?? order.foundBy;
    found.set(sourceOrderId, order);
  };
  for await (const rows of scanOrders(connection, accountId)) {
    for (const row of rows) add(row.source_order_id, whereInOrder(row, search));
    examined.orders += rows.length;
    onProgress(examined);
  }
  for (const sourceOrderId of await findInHeldCancellations(connection, accountId, search))
    add(sourceOrderId, ['review_reason']);
  for (const sourceOrderId of await findInHistory(connection, accountId, search)) add(sourceOrderId, ['history']);
  for (const sourceOrderId of await findInChangedDeliveries(connection, accountId, search))
    add(sourceOrderId, ['resends']);
  for (const sourceOrderId of await findInNotes(connection, accountId, search)) add(sourceOrderId, ['notes']);
  for await (const ids of scanReceipts(connection, accountId)) {
    for await (const receipts of readReceipts(connection, accountId, ids)) {
      for (const receipt of await withBodies(connection, accountId, receipts))
        add(receipt.source_order_id, whereInReceipt(receipt, search), receipt.receipt_id);
    }
    examined.receipts += ids.length;
    onProgress(examined);
  }
  if (found.size > 0) await addReceiptsAndStates(connection, accountId, found);
  return { found: [...found.values()], examined };
}

function emptyOrder(sourceOrderId: string): CustomerOrder {
  return { sourceOrderId, receiptIds: [], foundBy: null, matched: new Set(), orderId: null, reviewState: null };
}

/** Adds all receipts of the found orders, including those that do not mention the customer, and the orders' ids and states. */
async function addReceiptsAndStates(
  connection: Connection,
  accountId: number,
  found: ReadonlyMap<string, CustomerOrder>,
): Promise<void> {
  for await (const ids of scanReceipts(connection, accountId)) {
    for await (const receipts of readReceipts(connection, accountId, ids))
      for (const receipt of receipts) found.get(receipt.source_order_id)?.receiptIds.push(receipt.receipt_id);
  }
  const written = await run<{ source_order_id: string; order_id: number; review_state: ReviewState }>(
    connection,
    `select o.source_order_id, o.order_id, o.review_state
     from order_keys k join orders o on o.account_id = k.account_id and o.order_id = k.order_id
     where k.account_id = $1 and k.source_order_id = any($2::text[])`,
    [accountId, [...found.keys()]],
  );
  for (const { source_order_id, order_id, review_state } of written) {
    const order = found.get(source_order_id);
    if (order) Object.assign(order, { orderId: order_id, reviewState: review_state });
  }
}

export type StoredOrder = OrderRow & { review_reason: string | null; erased_at: Date | null };

async function* scanOrders(connection: Connection, accountId: number): AsyncGenerator<StoredOrder[]> {
  for (let after = 0; ; ) {
    const rows: StoredOrder[] = await run<StoredOrder>(
      connection,
      `select * from orders where account_id = $1 and order_id > $2 order by order_id limit ${PAGE}`,
      [accountId, after],
    );
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

function whereInReceipt({ body, raw, erased_at, source_order_id }: StoredReceipt, search: CustomerSearch): string[] {
  if (body === null) return [];
  const payload = payloadOf({ source_order_id, body });
  const { order } = normalizeOrder(payload);
  if (erased_at !== null) return notRedacted(order, search.isMentioned);
  const isInRaw = raw !== null && search.isMentioned(payloadOf({ source_order_id, body: raw }));
  return [...search.whereIn(order, payload), ...(isInRaw ? ['raw body'] : [])];
}

/** Whether an erasure would change nothing in this order. The `source_order_id` is not redacted, even if it mentions the customer. */
export function isRedacted(order: Order, isMentioned: (text: string) => boolean): boolean {
  return notRedacted(order, isMentioned).length === 0;
}

function notRedacted(order: Order, isMentioned: (text: string) => boolean): string[] {
  const redacted = redactOrder(order, isMentioned);
  const fields = Object.keys(redacted) as (keyof Order)[];
  return fields.filter((field) => !isDeepStrictEqual(redacted[field], order[field]));
}
