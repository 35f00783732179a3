import { randomUUID } from 'node:crypto';
import type { Database } from '@orders/database/connect.ts';
import { faultOf, isDamage, sqlstateOf } from '@orders/database/database-errors.ts';
import { writeCancelled } from '@orders/database/orders/write-cancelled.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { findReceiptBody } from '@orders/database/receipts/find-receipt.ts';
import { type Connection, inRolledBackTransaction, run, type Statement } from '@orders/database/run.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { type AttemptErrorCode, attemptErrorDetail } from '@orders/domain/receipt-json.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { mapStoredDelivery } from '@orders/domain/sources/read-delivery.ts';
import type { Request } from 'express';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';

/** The outcome of a dead receipt if it were redriven now. */
type DryRunResult =
  | { outcome: 'written' | 'duplicate'; sourceOrderId: string }
  | { outcome: 'failing'; code: AttemptErrorCode; sqlstate: string | null }
  /** The receipt is no longer dead. */
  | { outcome: 'gone' }
  /** A lock is not available now, or Postgres is busy. */
  | { outcome: 'undecided' };

// They limit how long others wait for rows locked here, even if this process stops.
const LIMITS = { lock_timeout: 200, statement_timeout: 2000, idle_in_transaction_session_timeout: 2000 };

const CLAIM: Statement = {
  name: 'claim-for-dry-run',
  text: `
update receipts r set state = 'normalized', lease_id = $3::uuid
where receipt_id = $2::uuid and account_id = $1::int and state = 'dead'
returning r.delivery_kind = 'cancellation' as "isCancellation",
  case when r.error_code = 'mapping_failed' and r.raw_length is null then (
    select jsonb_build_object('mapping', s.mapping, 'idPrefix', s.id_prefix) from sources s
    where s.account_id = r.account_id and s.source_number = r.source_number
  ) end as source`,
};

/** `source`: of a delivery that could not be mapped. */
interface ClaimedRow {
  isCancellation: boolean | null;
  source: { mapping: OrderMapping; idPrefix: string } | null;
}

/**
 * Processes a dead receipt as a worker would, in a transaction that is rolled back. Nothing is written, but one value of the order id
 * sequence is used.
 */
async function dryRunReceipt(database: Database, accountId: number, receiptId: string): Promise<DryRunResult> {
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
  const [claimed] = await run<ClaimedRow>(connection, CLAIM, [accountId, receiptId, leaseId]);
  if (!claimed) return { outcome: 'gone' };
  let body: Buffer | null;
  try {
    body = await findReceiptBody(connection, accountId, receiptId);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { outcome: 'failing', code: 'body_unreadable', sqlstate: sqlstateOf(error) };
  }
  if (!body) return { outcome: 'failing', code: 'unexpected_error', sqlstate: null };
  const payload = claimed.source
    ? mapStoredDelivery(body, claimed.source.mapping, claimed.source.idPrefix)
    : parseBody(body);
  if (!payload) return { outcome: 'failing', code: 'mapping_failed', sqlstate: null };
  const normalized = normalizeSent(payload);
  // A redrive carries it out and creates no order.
  if (claimed.isCancellation) return { outcome: 'duplicate', sourceOrderId: normalized.order.source_order_id };
  const order = { ...normalized, receiptId, accountId };
  const { written, duplicates, cancelledIds } = await writeOrders(connection, leaseId, [], [order]);
  if (cancelledIds.length > 0) written.push(...(await writeCancelled(connection, leaseId, [order])));
  const sourceOrderId = normalized.order.source_order_id;
  if (duplicates.length > 0) return { outcome: 'duplicate', sourceOrderId };
  return written.length > 0 ? { outcome: 'written', sourceOrderId } : { outcome: 'undecided' };
}

/** The outcome that a redrive would have now. */
export interface RedrivePreview {
  /** Dead receipts that match. */
  matching: number;
  /** How many of these were tried, newest first. */
  tried: number;
  written: number;
  duplicate: number;
  failing: { code: string; sqlstate: string | null; detail: string; count: number }[];
  /** Receipts whose dry run was blocked, for example by a lock. */
  undecided: number;
}

/** Max receipts per preview, and the time in milliseconds after which it starts no further one. */
export const MAX_TRIED = 500;
const PREVIEW_MS = 10_000;

/**
 * Dry-runs dead receipts one by one, each in a transaction that is rolled back. The second of two writable receipts with the same
 * `source_order_id` counts as a duplicate.
 */
export async function dryRunRedrive(
  { database, runLong }: Pick<PortalDeps, 'database' | 'runLong'>,
  request: Request,
  receiptIds: readonly string[],
  matching: number,
): Promise<RedrivePreview> {
  const accountId = accountIdOf(request);
  const endsAt = performance.now() + PREVIEW_MS;
  const preview: RedrivePreview = { matching, tried: 0, written: 0, duplicate: 0, failing: [], undecided: 0 };
  const written = new Set<string>();
  for (const receiptId of receiptIds.slice(0, MAX_TRIED)) {
    if (performance.now() > endsAt) break;
    const end = await runLong(request, () => dryRunReceipt(database, accountId, receiptId));
    if (end.outcome === 'gone') continue;
    preview.tried += 1;
    if (end.outcome === 'undecided') preview.undecided += 1;
    else if (end.outcome === 'failing') countFailing(preview.failing, end.code, end.sqlstate);
    else if (end.outcome === 'duplicate' || written.has(end.sourceOrderId)) preview.duplicate += 1;
    else {
      preview.written += 1;
      written.add(end.sourceOrderId);
    }
  }
  return preview;
}

function countFailing(failing: RedrivePreview['failing'], code: string, sqlstate: string | null): void {
  const existing = failing.find((group) => group.code === code && group.sqlstate === sqlstate);
  if (existing) existing.count += 1;
  else failing.push({ code, sqlstate, detail: attemptErrorDetail(code), count: 1 });
}
