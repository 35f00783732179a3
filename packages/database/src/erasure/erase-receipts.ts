import { randomUUID } from 'node:crypto';
import { normalizeOrder, redactedBody, redactOrder } from '@orders/domain';
import type { Knex } from 'knex';
import { ascending } from '../receipts/id-in.ts';
import { isRedacted } from './find-customer.ts';
import { lockReceipts, payloadOf, type StoredReceipt } from './scan-receipts.ts';

/** Where a body lies in a row of bodies; the start counts from 1. */
type Range = Pick<StoredReceipt, 'body_start' | 'body_length'>;

/**
 * Removes the personal data from receipts and their bodies. The new body goes into a row of its own, so that a worker whose statement began
 * before finds none rather than the old one; in the old row, which holds those of other receipts too, blanks take its place.
 *
 * @param receiptIds no more than one portion.
 * @returns how many had any.
 */
export async function eraseReceipts(
  trx: Knex.Transaction,
  accountId: number,
  receiptIds: readonly string[],
  isMentioned: (text: string) => boolean,
): Promise<number> {
  if (receiptIds.length === 0) return 0;
  const left = new Map<string, Range[]>();
  let erased = 0;
  for (const receipt of await lockReceipts(trx, accountId, ascending(receiptIds))) {
    if (!(await moveRedacted(trx, accountId, receipt, isMentioned))) continue;
    erased += 1;
    left.set(receipt.batch_id, [...(left.get(receipt.batch_id) ?? []), receipt]);
  }
  // In the order of their ids, so that two erasures wait for one another instead of deadlocking.
  for (const batchId of ascending([...left.keys()])) await blank(trx, accountId, batchId, left.get(batchId) ?? []);
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
  const newBatchId = batchIdBeside(receipt_id);
  await trx('receipt_payloads').insert({ batch_id: newBatchId, account_id: accountId, bodies: redacted });
  // A worker that has taken it writes nothing without its lease; the promise in the outbox stays, and it is taken again.
  await trx.raw(
    `update receipts
     set batch_id = ?::uuid, body_start = 1, body_length = ?, warnings = null, erased_at = clock_timestamp(),
         lease_id = null, lease_expires_at = null
     where receipt_id = ?::uuid and account_id = ?`,
    [newBatchId, redacted.length, receipt_id, accountId],
  );
  return true;
}

/** A UUIDv7 of the same millisecond, so that the body is dropped with its receipt. */
function batchIdBeside(receiptId: string): string {
  return `${receiptId.slice(0, 14)}7${randomUUID().slice(15)}`;
}

/** Once for all of a row: each time all of it is written anew. */
async function blank(trx: Knex.Transaction, accountId: number, batchId: string, ranges: readonly Range[]) {
  const bodies = ranges.reduce((sql) => `overlay(${sql} placing ? from ? for ?)`, 'bodies');
  const values = ranges.flatMap((range) => [Buffer.alloc(range.body_length, ' '), range.body_start, range.body_length]);
  await trx.raw(`update receipt_payloads set bodies = ${bodies} where batch_id = ?::uuid and account_id = ?`, [
    ...values,
    batchId,
    accountId,
  ]);
}
