import { randomUUID } from 'node:crypto';
import { normalizeOrder, parseBody } from '@orders/domain';
import type { Database } from '../../connect.ts';
import { faultOf, isDamage, sqlstateOf } from '../../database-errors.ts';
import { writeOrders } from '../orders/write-orders.ts';
import { type Connection, inRolledBackTransaction, run, type Statement } from '../run.ts';
import { findReceiptBody } from './find-receipt.ts';

/** The outcome of a dead receipt if it were redriven now. */
export type DryRunResult =
  | { outcome: 'written' | 'duplicate'; sourceOrderId: string }
  | { outcome: 'failing'; code: 'write_refused' | 'body_unreadable' | 'unexpected_error'; sqlstate: string | null }
  /** The receipt is no longer dead. */
  | { outcome: 'gone' }
  /** A lock is not available now, or Postgres is busy. */
  | { outcome: 'undecided' };

// They limit how long others wait for rows locked here, even if this process stops.
const LIMITS = { lock_timeout: 200, statement_timeout: 2000, idle_in_transaction_session_timeout: 2000 };

const CLAIM: Statement = {
  name: 'claim-for-dry-run',
  text: `
update receipts set state = 'normalized', lease_id = $3::uuid
where receipt_id = $2::uuid and account_id = $1::int and state = 'dead'
returning receipt_id`,
};

/**
 * Processes a dead receipt as a worker would, in a transaction that is rolled back. Nothing is written, but one value of the order id
 * sequence is used.
 */
export async function dryRunReceipt(database: Database, accountId: number, receiptId: string): Promise<DryRunResult> {
  try {
    return await inRolledBackTransaction(database, LIMITS, (connection) => dryRun(connection, accountId, receiptId));
  } catch (error) {
    if (faultOf(error) === 'infrastructure') return { outcome: 'undecided' };
    const sqlstate = sqlstateOf(error);
    return { outcome: 'failing', code: sqlstate ? 'write_refused' : 'unexpected_error', sqlstate };
  }
}

async function dryRun(connection: Connection, accountId: number, receiptId: string): Promise<DryRunResult> {
  const leaseId = randomUUID();
  const claimed = await run(connection, CLAIM, [accountId, receiptId, leaseId]);
  if (claimed.length === 0) return { outcome: 'gone' };
  let body: Buffer | null;
  try {
    body = await findReceiptBody(connection, accountId, receiptId);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { outcome: 'failing', code: 'body_unreadable', sqlstate: sqlstateOf(error) };
  }
  if (!body) return { outcome: 'failing', code: 'unexpected_error', sqlstate: null };
  const normalized = normalizeOrder(parseBody(body));
  const { written, duplicates } = await writeOrders(connection, leaseId, [], [{ ...normalized, receiptId, accountId }]);
  const sourceOrderId = normalized.order.source_order_id;
  if (duplicates.length > 0) return { outcome: 'duplicate', sourceOrderId };
  return written.length > 0 ? { outcome: 'written', sourceOrderId } : { outcome: 'undecided' };
}
