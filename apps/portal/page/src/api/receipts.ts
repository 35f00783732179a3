import type { listedReceiptJson, receiptJson } from '@orders/domain/receipt-json.ts';
import type { DeadCount } from '@orders/portal/receipts/dead-letters.ts';
import type { ReceiptSearch } from '@orders/portal/receipts/search-receipts.ts';
import { useQuery } from '@tanstack/react-query';
import type { ReceiptEvent as Event } from '../../../src/receipts/describe-receipt.ts';
import type { RedrivePreview } from '../../../src/receipts/dry-run-redrive.ts';
import { usePagedList } from '../components/loaded.tsx';
import { call, type Json, type Query } from './client.ts';

export type Receipt = Json<ReturnType<typeof receiptJson>>;

/** A receipt in a list, with the numbers of its warnings and changes instead of these. */
export type ListedReceipt = Json<ReturnType<typeof listedReceiptJson>>;
export type ReceiptEvent = Event;
export type { RedrivePreview };

export interface ReceiptDetail extends Receipt {
  events: ReceiptEvent[];
  /** When the customer's data was erased from the payload. */
  erased_at: string | null;
  payload: string | null;
  /** Set if the payload is not UTF-8. */
  payload_base64: string | null;
  /** The number of its source. */
  source_number: number | null;
  /** What the source received, if the payload is the order made of it. */
  delivery:
    | { payload: string | null; payload_base64?: undefined }
    | { payload?: undefined; payload_base64: string }
    | null;
}

/** Whether the source of a dead receipt found no order id. Its `source_order_id` is then its own id. */
export function isUnmapped({ receipt_id, source_order_id }: { receipt_id: string; source_order_id: string }): boolean {
  return receipt_id === source_order_id;
}

export type FoundReceipts = Json<Omit<ReceiptSearch, 'receipts'>> & { receipts: ListedReceipt[] };

const FINAL = ['written', 'duplicate', 'dead'];

function isFinal({ status }: Receipt): boolean {
  return FINAL.includes(status);
}

/** An account's receipts by a filter, newest first, in pages. */
export function useReceipts(accountId: number, filter: Query) {
  return usePagedList({
    queryKey: ['receipts', accountId, filter],
    path: `/accounts/${accountId}/receipts`,
    query: (before) => ({ ...filter, before }),
    rowsOf: ({ receipts }: { receipts: ListedReceipt[]; next: string | null }) => receipts,
    keepsPrevious: true,
  });
}

/** Receipts with exactly this id, idempotency key or `source_order_id`. */
export function useReceiptSearch(accountId: number, q: string) {
  return useQuery({
    queryKey: ['receipts', accountId, 'search', q],
    queryFn: ({ signal }) =>
      call<FoundReceipts>('GET', `/accounts/${accountId}/receipts/search`, { query: { q }, signal }),
    enabled: q !== '',
  });
}

/** Counts of dead receipts by error code. */
export function useDeadCounts(accountId: number, everyMs: number | false = false) {
  return useQuery({
    refetchInterval: everyMs,
    queryKey: ['receipts', accountId, 'dead'],
    queryFn: ({ signal }) =>
      call<{ codes: Json<DeadCount>[] }>('GET', `/accounts/${accountId}/dead-letters/counts`, { signal }),
  });
}

/** One receipt, polled every `everyMs` milliseconds until its state is final. */
export function useReceipt(accountId: number, receiptId: string, everyMs = 2000) {
  return useQuery({
    queryKey: ['receipts', accountId, 'one', receiptId],
    queryFn: ({ signal }) => call<ReceiptDetail>('GET', `/accounts/${accountId}/receipts/${receiptId}`, { signal }),
    refetchInterval: ({ state }) => (state.data && !isFinal(state.data) ? everyMs : false),
  });
}
