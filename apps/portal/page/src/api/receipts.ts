import type { listedReceiptJson, receiptJson } from '@orders/domain/receipt-json.ts';
import type { DeadCount } from '@orders/portal/receipts/dead-letters.ts';
import type { ReceiptSearch } from '@orders/portal/receipts/search-receipts.ts';
import type { describeReceipt } from '../../../src/receipts/describe-receipt.ts';
import type { RedrivePreview } from '../../../src/receipts/dry-run-redrive.ts';
import type { Json } from './client.ts';
import { useGet } from './queries.ts';

export type Receipt = Json<ReturnType<typeof receiptJson>>;

/** A receipt in a list, with the numbers of its warnings and changes instead of these. */
export type ListedReceipt = Json<ReturnType<typeof listedReceiptJson>>;
export type { RedrivePreview };

export type ReceiptDetail = Json<Awaited<ReturnType<typeof describeReceipt>>>;

/** Whether the source of a dead receipt found no order id. Its `source_order_id` is then its own id. */
export function isUnmapped({ receipt_id, source_order_id }: { receipt_id: string; source_order_id: string }): boolean {
  return receipt_id === source_order_id;
}

export type FoundReceipts = Json<Omit<ReceiptSearch, 'receipts'>> & { receipts: ListedReceipt[] };

const FINAL = ['written', 'duplicate', 'dead'];

function isFinal({ status }: Receipt): boolean {
  return FINAL.includes(status);
}

/** Counts of dead receipts by error code. */
export function useDeadCounts(accountId: number, everyMs: number | false = false) {
  return useGet<{ codes: Json<DeadCount>[] }>(
    ['receipts', accountId, 'dead'],
    `/accounts/${accountId}/dead-letters/counts`,
    { refetchInterval: everyMs },
  );
}

/** One receipt, polled every `everyMs` milliseconds until its state is final. */
export function useReceipt(accountId: number, receiptId: string, everyMs = 2000) {
  const path = `/accounts/${accountId}/receipts/${receiptId}`;
  return useGet<ReceiptDetail>(['receipts', accountId, 'one', receiptId], path, {
    refetchInterval: ({ state }) => (state.data && !isFinal(state.data) ? everyMs : false),
  });
}
