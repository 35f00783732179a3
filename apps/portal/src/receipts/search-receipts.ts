import type { Database } from '@orders/database/connect.ts';
import { findOrderBySource } from '@orders/database/orders/find-order-by-source.ts';
import type { ListedReceiptRow } from '@orders/database/receipts/find-receipt.ts';
import { findReceipts, IN_KEY_ORDER, MAX_SCANNED } from '@orders/database/receipts/list-receipts.ts';
import { LAST_UUID, timeOf } from '@orders/database/receipts/uuids.ts';
import { type Connection, inRolledBackTransaction, run } from '@orders/database/run.ts';

/** Search results. No index finds duplicates by `source_order_id`, so two time ranges are scanned for them. */
export interface ReceiptSearch {
  receipts: ListedReceiptRow[];
  /** Receipts from this time on were scanned; null: all receipts. */
  newest_since: Date | null;
  /** Receipts after the order's own receipt were scanned up to this time; null: all of them, or there is no order. */
  followed_until: Date | null;
}

const MAX_RESULTS = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const BY_KEY = {
  name: 'search-by-idempotency-key',
  text: 'select receipt_id from idempotency_keys where account_id = $1::int and idempotency_key = $2::text',
};

const DEAD_BY_SOURCE = {
  name: 'search-dead-by-source',
  text: `
select receipt_id from dead_letters where account_id = $1::int and source_order_id = $2::text
order by receipt_id desc limit ${MAX_RESULTS}`,
};

/** Scans receipts from an id in one direction. */
function scanBySource(direction: '<' | '>') {
  const order = direction === '<' ? 'desc' : 'asc';
  return {
    name: `search-by-source-${order}`,
    text: `
select r.receipt_id
from (select receipt_id, account_id from receipts where receipt_id ${direction} $3::uuid order by receipt_id ${order} limit ${MAX_SCANNED}) e
cross join lateral (
  select receipt_id from receipts x
  where x.receipt_id = e.receipt_id and x.account_id = e.account_id and x.source_order_id = $2::text
  offset 0
) r
where e.account_id = $1::int
order by e.receipt_id ${order} limit ${MAX_RESULTS}`,
  };
}

function lastOfScan(direction: '<' | '>') {
  const order = direction === '<' ? 'desc' : 'asc';
  return {
    name: `last-of-search-${order}`,
    text: `select receipt_id from receipts where receipt_id ${direction} $1::uuid order by receipt_id ${order} offset ${MAX_SCANNED - 1} limit 1`,
  };
}

const NEWEST = { scan: scanBySource('<'), last: lastOfScan('<') };
const FOLLOWING = { scan: scanBySource('>'), last: lastOfScan('>') };

/**
 * Finds an account's receipts by an exact receipt id, idempotency key or `source_order_id`. The receipt of an order and dead receipts are
 * always found. Duplicates are found only among the newest receipts, and among the receipts that followed the order's.
 */
export async function searchReceipts(database: Database, accountId: number, text: string): Promise<ReceiptSearch> {
  return inRolledBackTransaction(database, IN_KEY_ORDER, (connection) => search(connection, accountId, text));
}

async function search(connection: Connection, accountId: number, text: string): Promise<ReceiptSearch> {
  const idsBy = async (statement: { name: string; text: string }, ...rest: string[]) =>
    (await run<{ receipt_id: string }>(connection, statement, [accountId, text, ...rest])).map((row) => row.receipt_id);
  const endOfScan = async (statement: { name: string; text: string }, from: string) => {
    const [last] = await run<{ receipt_id: string }>(connection, statement, [from]);
    return last ? new Date(timeOf(last.receipt_id)) : null;
  };
  const order = await findOrderBySource(connection, accountId, text);
  const ids = [
    ...(UUID.test(text) ? [text.toLowerCase()] : []),
    ...(await idsBy(BY_KEY)),
    ...(await idsBy(DEAD_BY_SOURCE)),
    ...(await idsBy(NEWEST.scan, LAST_UUID)),
    ...(order ? [order.receipt_id, ...(await idsBy(FOLLOWING.scan, order.receipt_id))] : []),
  ];
  return {
    receipts: (await findReceipts(connection, accountId, [...new Set(ids)])).slice(0, MAX_RESULTS),
    newest_since: await endOfScan(NEWEST.last, LAST_UUID),
    followed_until: order ? await endOfScan(FOLLOWING.last, order.receipt_id) : null,
  };
}
