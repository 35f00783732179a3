import { type OrderRow, orderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { severityOf } from '@orders/domain/severity.ts';
import type { DuplicateOrder } from './find-changes.ts';

/** The pointer of the field that a platform decides and no person: whether the order is paid. */
export const PAYMENT = '/payment_state';

const FIND = { name: 'find-order-to-pay', text: orderRow('$1::int', '$2::bigint') };

const APPLY = {
  name: 'apply-payment-state',
  text: 'select apply_payment_state($1::int, $2::bigint, $3::int, $4::text, $5::text, $6::jsonb) as actor',
};

/**
 * Sets the payment of a locked order that needs review to what the newest version of its platform says, with audit.
 *
 * @returns the actor of the source; null if the order does not need review, and a person has to see the change.
 */
export async function applyPayment(
  connection: Connection,
  { accountId, orderId, order: sent }: DuplicateOrder,
  sourceNumber: number,
): Promise<string | null> {
  const [row] = await run<OrderRow>(connection, FIND, [accountId, orderId]);
  if (row?.review_state !== 'needs_review') return null;
  const { warnings: before, ...stored } = toJson(row);
  const warnings = before.filter(({ pointer }) => pointer !== PAYMENT);
  const { payment_state } = sent;
  const severity = severityOf({ ...toOrder({ ...stored, warnings }), payment_state }, warnings);
  const values = [accountId, orderId, sourceNumber, payment_state, severity, JSON.stringify(warnings)];
  const [applied] = await run<{ actor: string }>(connection, APPLY, values);
  return applied?.actor ?? null;
}
