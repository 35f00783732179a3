import { ascending, newBatchIdFor } from '@orders/database/receipts/uuids.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { redactedBody, redactOrder } from '@orders/domain/redact-order.ts';
import type { Knex } from 'knex';
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
  trx: Knex.Transaction,
  accountId: number,
  receiptIds: readonly string[],
  isMentioned: (text: string) => boolean,
): Promise<number> {
  if (receiptIds.length === 0) return 0;
  const oldRanges = new Map<string, Range[]>();
  let erased = 0;
  for (const receipt of await lockReceipts(trx, accountId, ascending(receiptIds))) {
    if (!(await moveRedacted(trx, accountId, receipt, isMentioned))) continue;
    erased += 1;
    oldRanges.set(receipt.batch_id, [...(oldRanges.get(receipt.batch_id) ?? []), receipt]);
  }
  // In id order, so that two erasures do not deadlock.
  for (const batchId of ascending([...oldRanges.keys()]))
    await overwriteBodies(trx, accountId, batchId, oldRanges.get(batchId) ?? []);
  return erased;
}

async function moveRedacted(
  trx: Knex.Transaction,
  accountId: number,
  { receipt_id, source_order_id, body, erased_at }: StoredReceipt,
  isMentioned: (text: string) => boolean,
): Promise<boolean> {
  if (body === null) return false;
  const { order } = normalizeOrder(payloadOf({ source_order_id, body }));
  if (erased_at !== null && isRedacted(order, isMentioned)) return false;
  const redacted = redactedBody(redactOrder(order, isMentioned));
  const newBatchId = newBatchIdFor(receipt_id);
  await trx('receipt_payloads').insert({ batch_id: newBatchId, account_id: accountId, bodies: redacted });
  // Removing the lease stops a worker that has claimed it; the outbox row stays, so it is claimed again.
  await trx.raw(
    `update receipts
     set batch_id = ?::uuid, body_start = 1, body_length = ?, raw_length = null, warnings = null, erased_at = clock_timestamp(),
         lease_id = null, lease_expires_at = null
     where receipt_id = ?::uuid and account_id = ?`,
    [newBatchId, redacted.length, receipt_id, accountId],
  );
  return true;
}

/** One update for all ranges of a row, as each update rewrites the whole row. */
async function overwriteBodies(trx: Knex.Transaction, accountId: number, batchId: string, ranges: readonly Range[]) {
  const bodies = ranges.reduce((sql) => `overlay(${sql} placing ? from ? for ?)`, 'bodies');
  const values = ranges.flatMap(({ body_start, body_length, raw_length }) => {
    const length = body_length + (raw_length ?? 0);
    return [Buffer.alloc(length, ' '), body_start, length];
  });
  await trx.raw(`update receipt_payloads set bodies = ${bodies} where batch_id = ?::uuid and account_id = ?`, [
    ...values,
    batchId,
    accountId,
  ]);
}
