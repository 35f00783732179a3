import { ascending, FIRST_UUID, idIn } from '@orders/database/receipts/uuids.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';

/** Receipts of all accounts that one statement scans, as there is no index by account. */
const MAX_SCANNED = 50_000;
/** Receipts with bodies in memory, or changed in one transaction. Each can load a whole row of bodies, up to some MiB. */
const CHUNK_SIZE = 50;

/** A receipt with its stored body; null when it no longer exists. */
export interface StoredReceipt {
  receipt_id: string;
  source_order_id: string;
  erased_at: Date | null;
  batch_id: string;
  body_start: number;
  body_length: number;
  body: Buffer | null;
  /** The length of the raw body of a delivery to a source, which follows the body that was mapped from it. */
  raw_length: number | null;
  raw: Buffer | null;
}

/** A receipt without its body. */
type StoredReceiptRow = Omit<StoredReceipt, 'body' | 'raw'>;

const FIND_PAGE = `
with examined as materialized (
  select receipt_id, account_id from receipts where receipt_id > $1::uuid order by receipt_id limit ${MAX_SCANNED}
)
select (select receipt_id from examined order by receipt_id desc limit 1) as last,
       array(select receipt_id::text from examined where account_id = $2 order by receipt_id) as ids`;

/** Yields pages of ids of an account's receipts, oldest first; a page can be empty. Takes no locks. */
export async function* scanReceipts(connection: Connection, accountId: number): AsyncGenerator<string[]> {
  for (let after: string | null = FIRST_UUID; after !== null; ) {
    const page = await findPage(connection, accountId, after);
    yield page.ids;
    after = page.last;
  }
}

interface Page {
  ids: string[];
  /** The last examined id; null when there was none. */
  last: string | null;
}

function findPage(connection: Connection, accountId: number, after: string): Promise<Page> {
  return inTransaction(
    connection,
    async (transaction) => (await run<Page>(transaction, FIND_PAGE, [after, accountId]))[0] as Page,
    // In key order it stops at the end of the page; a sort would read the whole table first.
    { enable_sort: 'off', enable_bitmapscan: 'off' },
  );
}

const COLUMNS = 'receipt_id, source_order_id, erased_at, batch_id, body_start, body_length, raw_length';
const SELECT = `select ${COLUMNS} from receipts where ${idIn('receipt_id', '$1')} and account_id = $2 order by receipt_id`;

/** Yields chunks of receipts without bodies. @param receiptIds in ascending order. */
export async function* readReceipts(
  connection: Connection,
  accountId: number,
  receiptIds: readonly string[],
): AsyncGenerator<StoredReceiptRow[]> {
  for (const ids of inChunks(receiptIds)) yield run<StoredReceiptRow>(connection, SELECT, [ids, accountId]);
}

/** Chunks that can be in memory with their bodies, or be changed in one transaction. */
export function inChunks(receiptIds: readonly string[]): string[][] {
  return chunkBySize(receiptIds, () => 1, { size: CHUNK_SIZE });
}

/** Locks a chunk of receipts in id order until the end of the transaction. @param receiptIds in ascending order. */
export async function lockReceipts(
  connection: Connection,
  accountId: number,
  receiptIds: readonly string[],
): Promise<StoredReceipt[]> {
  const rows = await run<StoredReceiptRow>(connection, `${SELECT} for update`, [receiptIds, accountId]);
  return withBodies(connection, accountId, rows);
}

const FIND_BODIES = `
select batch_id, bodies from receipt_payloads where ${idIn('batch_id', '$1')} and account_id = $2`;

/** Adds the bodies. */
export async function withBodies(
  connection: Connection,
  accountId: number,
  receipts: readonly StoredReceiptRow[],
): Promise<StoredReceipt[]> {
  const ids = ascending([...new Set(receipts.map((receipt) => receipt.batch_id))]);
  if (ids.length === 0) return [];
  const rows = await run<{ batch_id: string; bodies: Buffer }>(connection, FIND_BODIES, [ids, accountId]);
  const bodies = new Map(rows.map((row) => [row.batch_id, row.bodies]));
  return receipts.map((receipt) => {
    const start = receipt.body_start - 1;
    const end = start + receipt.body_length;
    const all = bodies.get(receipt.batch_id);
    const raw = receipt.raw_length === null ? null : (all?.subarray(end, end + receipt.raw_length) ?? null);
    return { ...receipt, body: all?.subarray(start, end) ?? null, raw };
  });
}

/** The payload of a receipt. If the body cannot be parsed, which intake would have rejected, a payload with the body as a string. */
export function payloadOf({
  source_order_id,
  body,
}: {
  source_order_id: string;
  body: Buffer;
}): Record<string, unknown> {
  try {
    return parseBody(body);
  } catch {
    return { source_order_id, body: body.toString('utf8') };
  }
}
