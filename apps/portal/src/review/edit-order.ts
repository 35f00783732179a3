import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '@orders/database/audit.ts';
import { IS_ORDER, type OrderJson, type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { fieldAt, type OrderEdits } from '@orders/domain/apply-edits.ts';
import { editOrder, type OrderChange } from '@orders/domain/edit-order.ts';
import type { NormalizedOrder } from '@orders/domain/order.ts';
import { type FieldError, Problem } from '@orders/domain/problems.ts';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import type { Knex } from 'knex';

/** An edit by a reviewer. */
export interface EditRequest {
  accountId: number;
  orderId: number;
  edits: OrderEdits;
  /** The values that the editor saw, by pointer. */
  expected?: OrderEdits;
  by: string;
}

/**
 * Edits an order that needs review by `editOrder` of the domain, and audits the changes.
 *
 * @returns the edits that restore the values before; `conflict` when the order does not need review, its customer was erased or a value is
 * not the expected one; null when the account has no such order.
 * @throws {Problem} `invalid_request`, which names the fields that cannot be edited, and new values that cannot be read.
 */
export async function editStoredOrder(
  db: Knex,
  { accountId, orderId, edits, expected = {}, by }: EditRequest,
): Promise<{ undo: OrderEdits } | 'conflict' | null> {
  return db.transaction(async (trx) => {
    const order = await lockEditable(trx, accountId, orderId);
    if (order === null || order === 'conflict') return order;
    if (!isAsExpected(order, expected)) return 'conflict';
    const { rejections, ...edited } = editOrder({ order: toOrder(order), warnings: order.warnings }, edits);
    const errors = await withoutFormerValues(trx, order, edits, rejections);
    if (errors.length > 0) throw new Problem('invalid_request', { errors });
    await storeEdited(trx, order, edited);
    await recordAudit(trx, {
      accountId,
      actor: by,
      action: 'order_edited',
      subject: `order:${orderId}`,
      details: { changes: edited.changes },
    });
    return { undo: edited.undo };
  });
}

/** @throws {Problem} `invalid_request`, which names the pointers that are no fields of the order. */
function isAsExpected(order: OrderJson, expected: OrderEdits): boolean {
  const fields = Object.entries(expected).map(([pointer, value]) => ({
    pointer,
    value,
    stored: fieldAt(order, pointer),
  }));
  const errors = fields
    .filter(({ stored }) => stored === undefined)
    .map(({ pointer }) => ({ pointer, code: 'not_editable', detail: 'Not a field of an order that can be edited.' }));
  if (errors.length > 0) throw new Problem('invalid_request', { errors: errors.slice(0, MAX_ERRORS) });
  return fields.every(({ value, stored }) => isDeepStrictEqual(value, stored));
}

const MAX_ERRORS = 100;

/**
 * The rejections of values that the order never had. An unreadable value that it has, or had before an edit, can be stored again: otherwise
 * edits of what senders sent could not be undone.
 */
async function withoutFormerValues(
  trx: Knex.Transaction,
  order: OrderJson,
  edits: OrderEdits,
  rejections: readonly FieldError[],
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  for (const rejection of rejections) {
    const { pointer } = rejection;
    const value = edits[pointer];
    if (value !== undefined && isDeepStrictEqual(fieldAt(order, pointer), value)) continue;
    if (value === undefined || !(await hadValue(trx, order, pointer, value))) errors.push(rejection);
  }
  return errors;
}

async function hadValue(trx: Knex.Transaction, order: OrderJson, pointer: string, value: unknown): Promise<boolean> {
  const { account_id: accountId, order_id } = order;
  const { rows } = await trx.raw<{ rows: { had: boolean }[] }>(
    `select exists (
       select from audit_events where account_id = :accountId and subject = :subject and details @> :change::jsonb
     ) as had`,
    { accountId, subject: `order:${order_id}`, change: JSON.stringify({ changes: [{ pointer, before: value }] }) },
  );
  return rows[0]?.had === true;
}

/** Locks an order. @returns `conflict` when it does not need review or its customer was erased; null if the account has no such order. */
export async function lockEditable(
  trx: Knex.Transaction,
  accountId: number,
  orderId: number,
): Promise<OrderJson | 'conflict' | null> {
  const key = { account_id: accountId, order_id: orderId };
  const [row] = await trx<OrderRow & { erased_at: Date | null }>('orders').where(key).whereRaw(IS_ORDER).forUpdate();
  if (!row) return null;
  return row.review_state === 'needs_review' && row.erased_at === null ? toJson(row as OrderRow) : 'conflict';
}

/**
 * Edits a locked order, with values as the sender sent them: unreadable ones are stored with warnings.
 *
 * @throws {Problem} `invalid_request`, which names the fields that cannot be edited.
 */
export async function storeEdits(trx: Knex.Transaction, stored: OrderJson, edits: OrderEdits): Promise<OrderChange[]> {
  const edited = editOrder({ order: toOrder(stored), warnings: stored.warnings }, edits);
  await storeEdited(trx, stored, edited);
  return edited.changes;
}

async function storeEdited(
  trx: Knex.Transaction,
  { account_id, order_id }: OrderJson,
  { order, warnings }: NormalizedOrder,
): Promise<void> {
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
      ...ofTextFields((name) => order[name]),
      warnings: JSON.stringify(warnings),
    });
  await updateSearchTerms(trx, account_id, [order_id]);
}
