import type { ReceiptRecord, ReceiptRow } from '@orders/database';
import { attemptErrorDetail } from '@orders/domain';

/** A receipt as the command line shows it: what its account sees in a status reply, and whose it is. */
export function receiptJson(receipt: ReceiptRow) {
  const { error_code, original_receipt_id, original_order_id } = receipt;
  return {
    receipt_id: receipt.receipt_id,
    account_id: receipt.account_id,
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

/** The same with its past and the body as received: `payload` where that is UTF-8, else `payload_base64`. */
export function receiptRecordJson(receipt: ReceiptRecord) {
  return {
    ...receiptJson(receipt),
    normalized_at: receipt.normalized_at,
    history: receipt.history ?? [],
    ...payloadJson(receipt.body),
  };
}

export type ReceiptJson = ReturnType<typeof receiptJson>;
export type ReceiptRecordJson = ReturnType<typeof receiptRecordJson>;

function payloadJson(body: Buffer | null): { payload: string | null } | { payload_base64: string } {
  if (body === null) return { payload: null };
  try {
    return { payload: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { payload_base64: body.toString('base64') };
  }
}
