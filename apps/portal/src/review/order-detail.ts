import { findAccount } from '@orders/database/accounts/accounts.ts';
import type { ListedOrder as ListedColumns } from '@orders/database/orders/order-rows.ts';
import { findRawDelivery, findReceiptBody } from '@orders/database/receipts/find-receipt.ts';
import { Problem } from '@orders/domain/problems.ts';
import { unreadMembers } from '@orders/domain/sources/unread-members.ts';
import type { PortalDeps } from '../deps.ts';
import { type ChangedDelivery, type ChangedDeliveryState, findChangedDeliveries } from './find-changed-deliveries.ts';
import { type EarlierOrders, findEarlierOrders } from './find-earlier-orders.ts';
import type { ListMarks } from './find-notes.ts';
import { countNotes, findNotes, type Note } from './find-notes.ts';
import {
  findOrderHistory,
  findReviewedOrder,
  type OrderEvent,
  type OrderReview,
  type ReviewedOrder,
} from './find-reviewed-order.ts';
import { findSimilar, type SimilarOrder } from './find-similar.ts';
import { findSnoozes } from './find-snoozes.ts';
import { type CancellationRequest, findCancellationRequest } from './list-requests.ts';
import { findPrint, type Print } from './print-routes.ts';
import { findAcceptable } from './replace-all-items.ts';

/** An order in the list. */
export type ListedOrder = ListedColumns & ListMarks;

/** An order with all that its reviewer sees. */
export interface OrderDetail {
  /** With its first 1,000 items; `item_count` is the total. */
  order: ReviewedOrder & ListMarks;
  review: OrderReview;
  /** When the customer's data was erased. */
  erased_at: Date | null;
  /** The payload as received, without erased data; null when its retention is over. */
  raw: { text: string } | null;
  /** What a platform sent, of which its mapping made that payload, and the members that its source does not read, as pointers. */
  delivery: { text: string; unread: string[] } | null;
  /** Newest first. */
  history: OrderEvent[];
  /** The last 200, oldest first. `order.note_count` is the total. */
  notes: Note[];
  /** At most five likely duplicates, newest first. */
  similar: SimilarOrder[];
  /** Of the customer; null without any. */
  earlier: EarlierOrders | null;
  /**
   * Changed deliveries of the order, newest first. Only the newest counts; while it is undecided, its changes are what
   * accepting it would change.
   */
  resends: Omit<ChangedDelivery, 'order_id'>[];
  /** Whether the account requires a decision on each changed delivery before the order is confirmed. */
  hold_resends: boolean;
  /** The request to cancel the order after it was dispatched. */
  cancellation: CancellationRequest | null;
  /** Null if it was never printed by itself. */
  print: Print | null;
}

/** @throws {Problem} `order_not_found`. */
export async function readOrderDetail(
  { database }: Pick<PortalDeps, 'database'>,
  accountId: number,
  orderId: number,
): Promise<OrderDetail> {
  const found = await findReviewedOrder(database, accountId, orderId);
  if (!found) throw new Problem('order_not_found');
  const [body, delivery, history, notes, noteCounts, similar, earlier, resent, account, cancellation, print, snoozes] =
    await Promise.all([
      findReceiptBody(database, accountId, found.order.receipt_id),
      findRawDelivery(database, accountId, found.order.receipt_id),
      findOrderHistory(database, accountId, orderId),
      findNotes(database, accountId, orderId),
      countNotes(database, accountId, [orderId]),
      findSimilar(database, accountId, found.order),
      findEarlierOrders(database, accountId, found.order),
      findChangedDeliveries(database, accountId, [orderId]),
      findAccount(database, accountId),
      findCancellationRequest(database, accountId, orderId),
      findPrint(database, accountId, orderId),
      findSnoozes(database, accountId, [orderId]),
    ]);
  const resends = resent.map(({ order_id: _, ...delivery }) => delivery);
  const [newest] = resends;
  if (newest?.decision === null && !newest.is_outdated)
    newest.changes = await findAcceptable(database, found.order, newest);
  const marks = {
    resent: stateOfChangedDeliveries(resends),
    note_count: noteCounts.get(orderId) ?? 0,
    snooze: snoozes.get(orderId) ?? null,
    similar: similar.length > 0,
  };
  return {
    ...found,
    order: { ...found.order, ...marks },
    raw: body && { text: body.toString('utf8') },
    delivery: delivery && {
      text: delivery.raw.toString('utf8'),
      unread: unreadMembers(delivery.raw, delivery),
    },
    history,
    notes,
    similar,
    earlier,
    resends,
    hold_resends: account?.resends === 'hold',
    cancellation,
    print,
  };
}

/** The same mark as `markChangedDeliveries`. */
function stateOfChangedDeliveries([newest]: OrderDetail['resends']): ChangedDeliveryState | null {
  if (!newest || newest.is_outdated) return null;
  return newest.decision === null ? 'undecided' : 'decided';
}
