import type { ReceiptRow } from '@orders/database/receipts/find-receipt.ts';
import type { ReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import { payloadJson, receiptJson as statusReply } from '@orders/domain/receipt-json.ts';

/** A receipt for the command line: the status reply plus its account; of changes only the pointers. */
export function receiptJson(receipt: ReceiptRow) {
  const { receipt_id, changes, ...rest } = statusReply(receipt);
  const pointers = changes.map(({ pointer }) => ({ pointer }));
  return { receipt_id, account_id: receipt.account_id, ...rest, changes: pointers };
}

/** Like `receiptJson`, with the history and the body as received: `payload` if it is UTF-8, else `payload_base64`. */
export function receiptRecordJson(receipt: ReceiptRecord) {
  return {
    ...receiptJson(receipt),
    normalized_at: receipt.normalized_at,
    history: receipt.history ?? [],
    erased_at: receipt.erased_at,
    ...payloadJson(receipt.body),
  };
}

export type ReceiptJson = ReturnType<typeof receiptJson>;
export type ReceiptRecordJson = ReturnType<typeof receiptRecordJson>;
