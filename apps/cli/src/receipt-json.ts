import type { ReceiptRecord, ReceiptRow } from '@orders/database';
import { payloadJson, receiptJson as statusReply } from '@orders/domain';

/** A receipt as the command line shows it: what its account sees in a status reply, and whose it is; of changes only where they are. */
export function receiptJson(receipt: ReceiptRow) {
  const { receipt_id, changes, ...rest } = statusReply(receipt);
  const pointers = changes.map(({ pointer }) => ({ pointer }));
  return { receipt_id, account_id: receipt.account_id, ...rest, changes: pointers };
}

/** The same with its past and the body as received: `payload` where that is UTF-8, else `payload_base64`. */
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
