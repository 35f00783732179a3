import { type Database, findReceipt, type ReceiptRow } from '@orders/database';
import { attemptErrorDetail, isFinal, Problem } from '@orders/domain';
import type { Request, RequestHandler } from 'express';
import { validate, version } from 'uuid';
import { contextOf, holderOf } from './context.ts';
import { readPreferences } from './read-preferences.ts';
import type { ReceiptWaiters } from './receipt-waiters.ts';
import { waitFor } from './wait-for.ts';

/** Tells an account what became of one of its receipts; with `Prefer: wait=N`, once that is decided. */
export function showStatus(database: Database, waiters: ReceiptWaiters): RequestHandler<{ receiptId: string }> {
  return async (request, response) => {
    const { receiptId } = request.params;
    if (!validate(receiptId) || version(receiptId) !== 7) throw new Problem('receipt_not_found');
    const { accountId } = holderOf(request as Request);
    const { wait } = readPreferences(request as Request);
    let receipt = await findReceipt(database, accountId, receiptId);
    if (!receipt) throw new Problem('receipt_not_found');
    contextOf(request as Request).receiptId = receipt.receipt_id;
    if (wait !== null) {
      response.set('Preference-Applied', `wait=${wait}`);
      if (!isFinal(receipt.state)) {
        await waitFor(request as Request, receipt.receipt_id, wait, waiters);
        receipt = (await findReceipt(database, accountId, receiptId)) ?? receipt;
      }
    }
    response.json(statusReply(receipt));
  };
}

/** The status reply (contract, section 2). */
function statusReply(receipt: ReceiptRow) {
  return {
    receipt_id: receipt.receipt_id,
    status: receipt.state,
    order_id: receipt.order_id,
    channel: receipt.channel,
    source_order_id: receipt.source_order_id,
    received_at: receipt.received_at,
    updated_at: receipt.updated_at,
    attempts: receipt.attempts,
    next_attempt_at: receipt.next_attempt_at,
    warnings: receipt.warnings ?? [],
    error: receipt.error_code && { code: receipt.error_code, detail: attemptErrorDetail(receipt.error_code) },
    duplicate_of: receipt.original_receipt_id && {
      receipt_id: receipt.original_receipt_id,
      order_id: receipt.original_order_id,
    },
  };
}
