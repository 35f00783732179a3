import type { ReceiptState } from '@orders/domain/receipt-states.ts';
import type { Database } from '../connect.ts';
import { type Connection, inRolledBackTransaction, run } from '../run.ts';
import { JOIN_ORIGINAL, LISTED_RECEIPT_COLUMNS, type ListedReceiptRow } from './find-receipt.ts';
import { ascending, firstUuidAt, idIn, LAST_UUID, timeOf } from './uuids.ts';

/** Max receipts of all accounts that one query scans. An index by account would cost more on each order. */
export const MAX_SCANNED = 50_000;
/** For statements with that limit: in key order they stop at the limit, while a sort reads the whole table first. */
export const IN_KEY_ORDER = { statement_timeout: 5000, enable_sort: 'off', enable_bitmapscan: 'off' };
export interface ReceiptPage {
  receipts: ListedReceiptRow[];
  /** Cursor of the next, older page; null at the end. */
  next: string | null;
}

const LIST = {
  name: 'list-receipts',
  // Scans from the newest until the page is full. `offset 0` forces a lookup of each receipt of this account.
  text: `
select ${LISTED_RECEIPT_COLUMNS}
from (select receipt_id, account_id from receipts where receipt_id < $2::uuid order by receipt_id desc limit ${MAX_SCANNED}) e
cross join lateral (
  select * from receipts x
  where x.receipt_id = e.receipt_id and x.account_id = e.account_id and ($3::text is null or x.state = $3::text)
  offset 0
) r ${JOIN_ORIGINAL}
where e.account_id = $1::int
order by e.receipt_id desc limit $4::int`,
};

const LAST_SCANNED = {
  name: 'last-scanned-receipt',
  text: `select receipt_id from receipts where receipt_id < $1::uuid order by receipt_id desc offset ${MAX_SCANNED - 1} limit 1`,
};

/**
 * Receipts of an account, newest first. A page scans a bounded number of receipts of all accounts, so it can have fewer than `limit`
 * receipts, or none, without being the last.
 *
 * @param page.before a receipt id, or `next` of the previous page.
 */
export async function listAccountReceipts(
  database: Database,
  accountId: number,
  page: { state?: ReceiptState | undefined; before?: string | undefined; limit: number },
): Promise<ReceiptPage> {
  const { state = null, before = LAST_UUID, limit } = page;
  const { receipts, last } = await inRolledBackTransaction(database, IN_KEY_ORDER, async (connection) => {
    const receipts = await run<ListedReceiptRow>(connection, LIST, [accountId, before, state, limit]);
    if (receipts.length === limit) return { receipts, last: receipts.at(-1) };
    const [last] = await run<{ receipt_id: string }>(connection, LAST_SCANNED, [before]);
    return { receipts, last };
  });
  if (receipts.length === limit) return { receipts, next: last?.receipt_id ?? null };
  if (!last) return { receipts, next: null };
  // The last scanned receipt may be another account's, so only its time is used.
  const next = firstUuidAt(timeOf(last.receipt_id) + 1);
  return { receipts: receipts.filter(({ receipt_id }) => receipt_id >= next), next };
}

const FIND_ALL = {
  name: 'find-receipts',
  text: `
select ${LISTED_RECEIPT_COLUMNS} from receipts r ${JOIN_ORIGINAL}
where ${idIn('r.receipt_id', '$2')} and r.account_id = $1::int order by r.receipt_id desc`,
};

/** Returns the receipts that belong to the account, newest first. */
export async function findReceipts(
  database: Connection,
  accountId: number,
  receiptIds: readonly string[],
): Promise<ListedReceiptRow[]> {
  return run<ListedReceiptRow>(database, FIND_ALL, [accountId, ascending(receiptIds)]);
}
