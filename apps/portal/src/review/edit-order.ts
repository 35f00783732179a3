import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '@orders/database/audit.ts';
import { type OrderJson, type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { fieldAt, type OrderEdits } from '@orders/domain/apply-edits.ts';
import { editOrder, type OrderChange } from '@orders/domain/edit-order.ts';
import type { NormalizedOrder } from '@orders/domain/order.ts';
import { type FieldError, Problem } from '@orders/domain/problems.ts';
import { severityOf } from '@orders/domain/severity.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';

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
  connection: Connection,
  { accountId, orderId, edits, expected = {}, by }: EditRequest,
): Promise<{ undo: OrderEdits } | 'conflict' | null> {
  return inTransaction(connection, async (transaction) => {
    const order = await lockEditable(transaction, accountId, orderId);
    if (order === null || order === 'conflict') return order;
    if (!isAsExpected(order, expected)) return 'conflict';
    const { rejections, ...edited } = editOrder({ order: toOrder(order), warnings: order.warnings }, edits);
    const errors = await withoutFormerValues(transaction, order, edits, rejections);
    if (errors.length > 0) throw new Problem('invalid_request', { errors });
    await storeEdited(transaction, order, edited);
    await recordAudit(transaction, {
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
  connection: Connection,
  order: OrderJson,
  edits: OrderEdits,
  rejections: readonly FieldError[],
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  for (const rejection of rejections) {
    const { pointer } = rejection;
    const value = edits[pointer];
    if (value !== undefined && isDeepStrictEqual(fieldAt(order, pointer), value)) continue;
    if (value === undefined || !(await hadValue(connection, order, pointer, value))) errors.push(rejection);
  }
  return errors;
}

async function hadValue(connection: Connection, order: OrderJson, pointer: string, value: unknown): Promise<boolean> {
  const { account_id: accountId, order_id } = order;
  const [row] = await run<{ had: boolean }>(
    connection,
    `select exists (
       select from audit_events where account_id = $1 and subject = $2 and details @> $3::jsonb
     ) as had`,
    [accountId, `order:${order_id}`, { changes: [{ pointer, before: value }] }],
  );
  return row?.had === true;
}

/** Locks an order. @returns `conflict` when it does not need review or its customer was erased; null if the account has no such order. */
export async function lockEditable(
  connection: Connection,
  accountId: number,
  orderId: number,
): Promise<OrderJson | 'conflict' | null> {
  const [row] = await run<OrderRow & { erased_at: Date | null }>(
    connection,
    `select * from orders where account_id = $1 and order_id = $2 for update`,
    [accountId, orderId],
  );
  if (!row) return null;
  return row.review_state === 'needs_review' && row.erased_at === null ? toJson(row) : 'conflict';
}

/**
 * Edits a locked order, with values as the sender sent them: unreadable ones are stored with warnings.
 *
 * @throws {Problem} `invalid_request`, which names the fields that cannot be edited.
 */
export async function storeEdits(connection: Connection, stored: OrderJson, edits: OrderEdits): Promise<OrderChange[]> {
  const edited = editOrder({ order: toOrder(stored), warnings: stored.warnings }, edits);
  await storeEdited(connection, stored, edited);
  return edited.changes;
}

async function storeEdited(
  connection: Connection,
  { account_id, order_id }: OrderJson,
  { order, warnings }: NormalizedOrder,
): Promise<void> {
  const { items, customer } = order;
  await execute(
    connection,
    `update orders
     set order_number = $3, customer_name = $4, customer_phone = $5, customer_email = $6, customer_id = $7, address = $8,
         emirate = $9, emirate_code = $10, area = $11, items = $12, total = $13, currency = $14, warnings = $15, severity = $16,
         ${TEXT_FIELD_NAMES.map((name, index) => `${name} = $${17 + index}`).join(', ')}
     where account_id = $1 and order_id = $2`,
    [
      account_id,
      order_id,
      order.order_number,
      customer.name,
      customer.phone,
      customer.email,
      customer.id,
      order.address,
      order.emirate,
      order.emirate_code,
      order.area,
      JSON.stringify(items),
      order.total,
      order.currency,
      JSON.stringify(warnings),
      severityOf(order, warnings),
      ...TEXT_FIELD_NAMES.map((name) => order[name]),
    ],
  );
  await updateSearchTerms(connection, account_id, [order_id]);
}
