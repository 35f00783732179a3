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
    changes: receipt.changes ?? [],
  };
}

/** The body of a receipt as received: `payload` where it is UTF-8, else `payload_base64`; null when its retention is over. */
export function payloadJson(body: Buffer | null): { payload: string | null } | { payload_base64: string } {
  if (body === null) return { payload: null };
  try {
    return { payload: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { payload_base64: body.toString('base64') };
  }
}
