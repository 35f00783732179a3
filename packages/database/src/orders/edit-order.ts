import { editOrder, type OrderChange, type OrderEdits } from '@orders/domain';
import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { type OrderJson, type OrderRow, toJson, toOrder } from './order-rows.ts';
import { updateSearchTerms } from './update-search-terms.ts';

/**
 * Edits an order that needs review by `editOrder` of the domain, and audits the changes.
 *
 * @returns false when the order does not need review or its customer was erased; null when the account has no such order.
 * @throws {Problem} `invalid_request`, which names the fields that cannot be edited.
 */
export async function editStoredOrder(
  db: Knex,
  { accountId, orderId, edits, by }: { accountId: number; orderId: number; edits: OrderEdits; by: string },
): Promise<boolean | null> {
  return db.transaction(async (trx) => {
    const order = await lockEditable(trx, accountId, orderId);
    if (order === null) return null;
    if (order === 'conflict') return false;
    const changes = await storeEdits(trx, order, edits);
    await recordAudit(trx, {
      accountId,
      actor: by,
      action: 'order_edited',
      subject: `order:${orderId}`,
      details: { changes },
    });
    return true;
  });
}

/** Locks an order. @returns `conflict` when it does not need review or its customer was erased; null if the account has no such order. */
export async function lockEditable(
  trx: Knex.Transaction,
  accountId: number,
  orderId: number,
): Promise<OrderJson | 'conflict' | null> {
  const key = { account_id: accountId, order_id: orderId };
  const [row] = await trx<OrderRow & { erased_at: Date | null }>('orders').where(key).forUpdate();
  if (!row) return null;
  return row.review_state === 'needs_review' && row.erased_at === null ? toJson(row as OrderRow) : 'conflict';
}

/**
 * Edits a locked order.
 *
 * @throws {Problem} `invalid_request`, which names the fields that cannot be edited.
 */
export async function storeEdits(trx: Knex.Transaction, stored: OrderJson, edits: OrderEdits): Promise<OrderChange[]> {
  const { order, warnings, changes } = editOrder({ order: toOrder(stored), warnings: stored.warnings }, edits);
  const { account_id, order_id } = stored;
  await trx('orders')
    .where({ account_id, order_id })
    .update({
      order_number: order.order_number,
      customer_name: order.customer.name,
      customer_phone: order.customer.phone,
      customer_email: order.customer.email,
      customer_id: order.customer.id,
      address: order.address,
      emirate: order.emirate,
      emirate_code: order.emirate_code,
      area: order.area,
      items: JSON.stringify(order.items),
      total: order.total,
      currency: order.currency,
      delivery_instructions: order.delivery_instructions,
      warnings: JSON.stringify(warnings),
    });
  await updateSearchTerms(trx, account_id, [order_id]);
  return changes;
}
