import { ascending, newBatchIdFor } from '@orders/database/receipts/uuids.ts';
import { type Connection, execute } from '@orders/database/run.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { redactedBody, redactOrder } from '@orders/domain/redact-order.ts';
import { isRedacted } from './find-customer.ts';
import { lockReceipts, payloadOf, type StoredReceipt } from './scan-receipts.ts';

/** The range of a body in a row of bodies; the start counts from 1. */
type Range = Pick<StoredReceipt, 'body_start' | 'body_length' | 'raw_length'>;

/**
 * Removes personal data from receipts and their bodies, and the raw bodies of deliveries to sources. The redacted body is stored in a new row, so that a worker whose statement began
 * before finds no body instead of the old one. In the old row, which has bodies of other receipts too, it is overwritten with spaces.
 *
 * @param receiptIds at most one chunk.
 * @returns the number of receipts that had personal data.
 */
export async function eraseReceipts(
  connection: Connection,
  accountId: number,
  receiptIds: readonly string[],
  isMentioned: (text: string) => boolean,
): Promise<number> {
  if (receiptIds.length === 0) return 0;
  const oldRanges = new Map<string, Range[]>();
  let erased = 0;
  for (const receipt of await lockReceipts(connection, accountId, ascending(receiptIds))) {
    if (!(await moveRedacted(connection, accountId, receipt, isMentioned))) continue;
    erased += 1;
    oldRanges.set(receipt.batch_id, [...(oldRanges.get(receipt.batch_id) ?? []), receipt]);
  }
  // In id order, so that two erasures do not deadlock.
  for (const batchId of ascending([...oldRanges.keys()]))
    await overwriteBodies(connection, accountId, batchId, oldRanges.get(batchId) ?? []);
  return erased;
}

async function moveRedacted(
  connection: Connection,
  accountId: number,
  { receipt_id, source_order_id, body, erased_at }: StoredReceipt,
  isMentioned: (text: string) => boolean,
): Promise<boolean> {
  if (body === null) return false;
  const { order } = normalizeOrder(payloadOf({ source_order_id, body }));
  if (erased_at !== null && isRedacted(order, isMentioned)) return false;
  const redacted = redactedBody(redactOrder(order, isMentioned));
  const newBatchId = newBatchIdFor(receipt_id);
  await execute(connection, 'insert into receipt_payloads (batch_id, account_id, bodies) values ($1, $2, $3)', [
    newBatchId,
    accountId,
    redacted,
  ]);
  // Removing the lease stops a worker that has claimed it; the outbox row stays, so it is claimed again.
  await execute(
    connection,
    `update receipts
     set batch_id = $1::uuid, body_start = 1, body_length = $2, raw_length = null, warnings = null, erased_at = clock_timestamp(),
         lease_id = null, lease_expires_at = null
     where receipt_id = $3::uuid and account_id = $4`,
    [newBatchId, redacted.length, receipt_id, accountId],
  );
  return true;
}

/** One update for all ranges of a row, as each update rewrites the whole row. */
async function overwriteBodies(
  connection: Connection,
  accountId: number,
  batchId: string,
  ranges: readonly Range[],
): Promise<void> {
  const bodies = ranges.reduce((sql, { body_start: start, body_length, raw_length }) => {
    const length = body_length + (raw_length ?? 0);
    return `overlay(${sql} placing convert_to(repeat(' ', ${length}), 'UTF8') from ${start} for ${length})`;
  }, 'bodies');
  await execute(
    connection,
    `update receipt_payloads set bodies = ${bodies} where batch_id = $1::uuid and account_id = $2`,
    [batchId, accountId],
  );
}
