import { attemptErrorDetail } from '@orders/domain';
import type { ReceiptRow } from './find-receipt.ts';

/** A receipt as JSON shows it everywhere: the status reply (contract, section 2). */
export function receiptJson(receipt: ReceiptRow) {
  const { error_code, original_receipt_id, original_order_id } = receipt;
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
    error: error_code === null ? null : { code: error_code, detail: attemptErrorDetail(error_code) },
    duplicate_of:
      original_receipt_id === null ? null : { receipt_id: original_receipt_id, order_id: original_order_id },
  };
}
