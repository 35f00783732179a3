import type { ListedReceipt, Receipt } from '@orders/domain/receipt-json.ts';
import type { ReceiptState } from '@orders/domain/receipt-states.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import type { Database } from '../connect.ts';
import { orderOfKey } from '../orders/order-rows.ts';
import { type Connection, run } from '../run.ts';
import { sourceOf } from '../sources/sources.ts';
import { ascending, idIn } from './uuids.ts';

/** SQL: no worker has begun on `receipts r`, and its body was not replaced by an erasure. */
export const IS_NEW = `(r.state = 'received' and r.lease_id is null and not r.runs_alone and r.erased_at is null)`;

/** SQL: `receipts r` may be moved: it is under the lease `$1` or, if `$1` is null, it is still new, as `readNewReceipts` read it. */
export const MAY_MOVE = `case when $1::uuid is null then ${IS_NEW} else r.lease_id = $1::uuid and r.state = 'normalized' end`;

/** SQL: the `normalized_at` of a moved receipt: now, if it was read without a lease. */
export const NORMALIZED_AT = `case when r.state = 'received' then now() else r.normalized_at end`;

/** A receipt and its account. */
export interface ReceiptRow extends Receipt {
  account_id: number;
}

/** A receipt in a list, with only the numbers of its warnings and changes. */
export type ListedReceiptRow = ListedReceipt & { account_id: number };

const COMMON_COLUMNS = `
  r.receipt_id, r.account_id, r.state, r.order_id, r.channel, r.source_order_id, r.received_at, r.updated_at, r.attempts,
  case when r.state = 'failed' then r.next_attempt_at end as next_attempt_at,
  case when r.state in ('failed', 'dead') then r.error_code end as error_code,
  o.receipt_id as original_receipt_id, o.order_id as original_order_id`;

/** SQL: the columns of a `ReceiptRow`, from `receipts r` and `JOIN_ORIGINAL`. */
export const RECEIPT_COLUMNS = `${COMMON_COLUMNS}, r.warnings, s.changes, coalesce(s.is_outdated, false) as outdated, case when r.state in ('written', 'duplicate') then (
    select review_state from orders where account_id = r.account_id and order_id = coalesce(r.order_id, o.order_id)
  ) end as order_state, ${sourceOf('r')} as source`;

/** SQL: the columns of a `ListedReceiptRow`, from the same tables. */
export const LISTED_RECEIPT_COLUMNS = `${COMMON_COLUMNS},
  coalesce(jsonb_array_length(r.warnings), 0) as warning_count, coalesce(jsonb_array_length(s.changes), 0) as change_count,
  ${sourceOf('r')} as source`;

/**
 * SQL: joins `receipts r` to the order that it duplicates and to its changes. `offset 0` forces the planner to look up that one row.
 */
export const JOIN_ORIGINAL = `
  left join lateral (
    select receipt_id, order_id from (${orderOfKey('r.account_id', 'r.source_order_id')}) as original where r.state = 'duplicate'
  ) as o on true
  left join lateral (
    select changes, is_outdated from changed_deliveries where account_id = r.account_id and order_id = o.order_id and receipt_id = r.receipt_id
    offset 0
  ) as s on true`;

const FIND = {
  name: 'find-receipt',
  text: `select ${RECEIPT_COLUMNS} from receipts r ${JOIN_ORIGINAL} where r.receipt_id = $1::uuid and r.account_id = $2::int`,
};

/** Finds a receipt of this account; null for another account's receipt. */
export async function findReceipt(
  database: Database,
  accountId: number,
  receiptId: string,
): Promise<ReceiptRow | null> {
  const [row] = await run<ReceiptRow>(database, FIND, [receiptId, accountId]);
  return row ?? null;
}

/** SQL: the body of `receipts r` as received. */
export const BODY = `
  (select substring(p.bodies from r.body_start for r.body_length) from receipt_payloads p
   where p.batch_id = r.batch_id and p.account_id = r.account_id)`;

/** SQL: the delivery of `receipts r` as received; null if its body was not mapped. */
export const RAW_DELIVERY = `
  (select substring(p.bodies from r.body_start + r.body_length for r.raw_length) from receipt_payloads p
   where r.raw_length is not null and p.batch_id = r.batch_id and p.account_id = r.account_id)`;

const FIND_BODY = {
  name: 'find-receipt-body',
  text: `select ${BODY} as body from receipts r where r.receipt_id = $1::uuid and r.account_id = $2::int`,
};

/** The body of a receipt of this account, exactly as received; null when it no longer exists. */
export async function findReceiptBody(
  database: Connection,
  accountId: number,
  receiptId: string,
): Promise<Buffer | null> {
  const [row] = await run<{ body: Buffer | null }>(database, FIND_BODY, [receiptId, accountId]);
  return row?.body ?? null;
}

const FIND_DELIVERY = {
  name: 'find-raw-delivery',
  text: `
select ${RAW_DELIVERY} as raw, s.mapping, s.settings from receipts r
join sources s on s.account_id = r.account_id and s.source_number = r.source_number
where r.receipt_id = $1::uuid and r.account_id = $2::int and r.raw_length is not null`,
};

export interface RawDelivery {
  raw: Buffer;
  mapping: OrderMapping;
  settings: SourceSettings;
}

/** The delivery of a receipt as its platform sent it, and what its source reads of it now; null if it is none, or no longer exists. */
export async function findRawDelivery(
  database: Connection,
  accountId: number,
  receiptId: string,
): Promise<RawDelivery | null> {
  const [row] = await run<Omit<RawDelivery, 'raw'> & { raw: Buffer | null }>(database, FIND_DELIVERY, [
    receiptId,
    accountId,
  ]);
  return row?.raw ? { ...row, raw: row.raw } : null;
}

/** A receipt in a final state. */
export interface FinalReceipt {
  receipt_id: string;
  state: ReceiptState;
  order_id: number | null;
}

const FIND_FINAL = {
  name: 'find-final-receipts',
  text: `
select receipt_id, state, order_id from receipts
where ${idIn('receipt_id', '$1')} and state in ('written', 'duplicate', 'dead')`,
};

/** Returns the receipts that are in a final state. */
export async function findFinalReceipts(database: Database, receiptIds: readonly string[]): Promise<FinalReceipt[]> {
  return run<FinalReceipt>(database, FIND_FINAL, [ascending(receiptIds)]);
}
