import {
  findAcceptable,
  findAccount,
  findOrderHistory,
  findReceiptBody,
  findResends,
  findReviewedOrder,
  type ListedOrder as ListedColumns,
  type OrderEvent,
  type OrderReview,
  type Resend,
  type Resent,
  type ReviewedOrder,
} from '@orders/database';
import { Problem } from '@orders/domain';
import type { PortalDeps } from '../deps.ts';

/** An order as the list has it. */
export type ListedOrder = ListedColumns & { resent: Resent | null };

/** An order as its reviewer sees it. */
export interface ShownOrder {
  /** With its first 1,000 items; `item_count` says how many it has. */
  order: ReviewedOrder & { resent: Resent | null };
  review: OrderReview;
  /** When the customer's data was removed from it. */
  erased_at: Date | null;
  /** The payload as received, or what was left of it then; null when its retention is over. */
  raw: { text: string } | null;
  /** Newest first. */
  history: OrderEvent[];
  /**
   * What was sent again of it with other content, newest first. Of these the newest counts; while nobody has decided, its
   * changes are what accepting it makes of the order.
   */
  resends: Omit<Resend, 'order_id'>[];
  /** Whether its account wants each such resend decided before the order is confirmed. */
  hold_resends: boolean;
}

/** @throws {Problem} `order_not_found`. */
export async function showOrder(
  { database, knex }: Pick<PortalDeps, 'database' | 'knex'>,
  accountId: number,
  orderId: number,
): Promise<ShownOrder> {
  const found = await findReviewedOrder(database, accountId, orderId);
  if (!found) throw new Problem('order_not_found');
  const [body, history, resent, account] = await Promise.all([
    findReceiptBody(database, accountId, found.order.receipt_id),
    findOrderHistory(database, accountId, orderId),
    findResends(database, accountId, [orderId]),
    findAccount(knex, accountId),
  ]);
  const resends = resent.map(({ order_id: _, ...resend }) => resend);
  const [newest] = resends;
  if (newest?.decision === null) newest.changes = await findAcceptable(database, found.order, newest);
  return {
    ...found,
    order: { ...found.order, resent: resentOf(resends) },
    raw: body && { text: body.toString('utf8') },
    history,
    resends,
    hold_resends: account?.resends === 'hold',
  };
}

/** As `markResent` has it. */
function resentOf([newest]: ShownOrder['resends']): Resent | null {
  if (!newest) return null;
  return newest.decision === null ? 'undecided' : 'decided';
}
