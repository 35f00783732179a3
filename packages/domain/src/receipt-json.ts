import type { Difference } from './compare-orders.ts';
import type { Warning } from './normalize/warnings.ts';
import type { Item } from './order.ts';
import type { Channel, ReceiptState, ReviewState } from './receipt-states.ts';

/** The source of a receipt, and what its platform calls the order. */
export interface SourceOfOrder {
  name: string;
  /** The id without the prefix of the source; null if its mapping found none. */
  platform_id: string | null;
}

/** A receipt as shown to its account. Times are by Postgres' clock. */
export interface Receipt {
  receipt_id: string;
  state: ReceiptState;
  order_id: number | null;
  channel: Channel;
  source_order_id: string;
  received_at: Date;
  updated_at: Date;
  attempts: number;
  next_attempt_at: Date | null;
  warnings: Warning[] | null;
  error_code: string | null;
  /** For a duplicate: the receipt and order that came first. */
  original_receipt_id: string | null;
  original_order_id: number | null;
  /** For a duplicate: differences from that order; null without any. */
  changes: Difference[] | null;
  /** For a duplicate: the platform has sent a newer version, by its own clock, before it or before anybody decided. */
  outdated: boolean;
  /** The present state of its order; null if it is neither written nor a duplicate. */
  order_state: ReviewState | null;
  /** Null if it was not a delivery to a source. */
  source: SourceOfOrder | null;
}

type DetailMembers = 'warnings' | 'changes' | 'outdated' | 'order_state';

/** A receipt in a list, with only the numbers of its warnings and changes. */
export type ListedReceipt = Omit<Receipt, DetailMembers> & {
  warning_count: number;
  change_count: number;
};

/** The JSON of a receipt, as in the status response (contract, section 2). */
export function receiptJson(receipt: Receipt) {
  return {
    ...beforeWarnings(receipt),
    warnings: receipt.warnings?.map(warningJson) ?? [],
    ...afterWarnings(receipt),
    changes: receipt.changes?.map(differenceJson) ?? [],
    outdated: receipt.outdated,
    order_state: receipt.order_state,
    source: sourceJson(receipt.source),
  };
}

/** The JSON of a receipt in the portal's lists. */
export function listedReceiptJson(receipt: ListedReceipt) {
  const { warning_count, change_count } = receipt;
  const source = sourceJson(receipt.source);
  return { ...beforeWarnings(receipt), warning_count, ...afterWarnings(receipt), change_count, source };
}

export function sourceJson(source: SourceOfOrder | null): SourceOfOrder | null {
  return source && { name: source.name, platform_id: source.platform_id };
}

type Common = Omit<Receipt, DetailMembers>;

function beforeWarnings(receipt: Common) {
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
  };
}

function afterWarnings({ error_code, original_receipt_id, original_order_id }: Common) {
  return {
    error: error_code === null ? null : { code: error_code, detail: attemptErrorDetail(error_code) },
    duplicate_of:
      original_receipt_id === null ? null : { receipt_id: original_receipt_id, order_id: original_order_id },
  };
}

/** The body of a receipt as received: `payload` if it is UTF-8, else `payload_base64`; null when its retention is over. */
export function payloadJson(body: Buffer | null): { payload: string | null } | { payload_base64: string } {
  if (body === null) return { payload: null };
  try {
    return { payload: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { payload_base64: body.toString('base64') };
  }
}

/** Reasons why an attempt failed, as shown to the account. Codes are stable. */
export const ATTEMPT_ERRORS = {
  write_refused:
    'The order could not be written: the database rejected it. Nothing is lost; the operator can see why and redrive it.',
  body_unreadable:
    'The stored order could not be read. It is kept as it is; the operator can repair the storage and redrive it.',
  worker_crashed:
    'The worker ended each time it processed this order. The order is kept and can be redriven once the cause is fixed.',
  unexpected_error:
    'The order could not be processed because of a fault on our side. Nothing is lost; it can be redriven.',
  idempotency_key_reused:
    'This order came with an Idempotency-Key that another order used before, so it was kept and not processed. Redrive it to accept it as an order of its own.',
  mapping_failed:
    'The mapping of the source found no valid order id in this delivery, so it was kept and not processed. With the prefix of the source, an id has at most 255 characters. Correct the mapping, then redrive it.',
} as const;

export type AttemptErrorCode = keyof typeof ATTEMPT_ERRORS;

/** The sentence for a stored code; a code of another version that this one does not know gets the general sentence. */
export function attemptErrorDetail(code: string): string {
  return Object.hasOwn(ATTEMPT_ERRORS, code)
    ? ATTEMPT_ERRORS[code as AttemptErrorCode]
    : ATTEMPT_ERRORS.unexpected_error;
}

// jsonb does not preserve the order of members; these functions restore that of the contract.

export function warningJson({ pointer, code, detail }: Warning): Warning {
  return { pointer, code, detail };
}

export function itemJson({ name, quantity, sku }: Item): Item {
  return { name, quantity, sku };
}

export function differenceJson({ pointer, from, to, cut }: Difference): Difference {
  return { pointer, from: valueJson(from), to: valueJson(to), ...(cut && { cut }) };
}

function valueJson(value: Difference['from']): Difference['from'] {
  return Array.isArray(value) ? value.map(itemJson) : value;
}
