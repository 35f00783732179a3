import type { ReceiptState } from '@orders/domain/receipt-states.ts';
import { UNATTENDED_ACCOUNTS } from '../accounts/test-accounts.ts';
import { type Connection, run } from '../run.ts';
import { BODY, JOIN_ORIGINAL, RAW_DELIVERY, RECEIPT_COLUMNS, type ReceiptRow } from './find-receipt.ts';
import { LAST_UUID, timeOf } from './uuids.ts';

/** A receipt with its history and its body as received, which only operators and its account see. */
export interface ReceiptRecord extends ReceiptRow {
  normalized_at: Date | null;
  /** The last 500 failed attempts, lapsed leases and redrives, oldest first; null if there were none. */
  history: Record<string, unknown>[] | null;
  body: Buffer | null;
  /** The number of its source. */
  source_number: number | null;
  /** The delivery as received, if `body` is the order that its source made of it. */
  raw: Buffer | null;
  /** When personal data was removed from the body. */
  erased_at: Date | null;
}

/** SQL: whether a row is of account $1 or, if that is null, of no test account. */
export const isOf = (row: string) =>
  `case when $1::int is null then ${row}.account_id not in (${UNATTENDED_ACCOUNTS}) else ${row}.account_id = $1 end`;

/** Receipts per query; each can have a thousand warnings. */
const CHUNK_SIZE = 50;

/**
 * Yields receipts of an account, or of all that are no test accounts, newest first, in chunks that fit into memory. Dead receipts are found
 * by `dead_letters`.
 */
export async function* readReceipts(
  connection: Connection,
  filter: { accountId?: number | undefined; state?: ReceiptState | undefined; limit: number },
): AsyncGenerator<ReceiptRow[]> {
  let remaining = filter.limit;
  let before = LAST_UUID;
  while (remaining > 0) {
    const limit = Math.min(remaining, CHUNK_SIZE);
    const rows = await run<ReceiptRow>(
      connection,
      `select ${RECEIPT_COLUMNS} from receipts r ${JOIN_ORIGINAL}
       where ($2::text is distinct from 'dead' or r.receipt_id = any(array(select d.receipt_id from dead_letters d
               where ${isOf('d')} and d.receipt_id < $3::uuid
               order by d.receipt_id desc limit $4::int)))
         and ${isOf('r')} and ($2::text is null or r.state = $2)
         and r.receipt_id < $3::uuid
       order by r.receipt_id desc limit $4::int`,
      [filter.accountId, filter.state, before, limit],
    );
    if (rows.length > 0) yield rows;
    // Some dead receipts may have been redriven since they were looked up.
    if (rows.length < limit && filter.state !== 'dead') return;
    if (rows.length === 0) return;
    remaining -= rows.length;
    before = rows.at(-1)?.receipt_id ?? before;
  }
}

/** The receipt with this id, or null; of any account unless `accountId` is given. */
export async function findReceiptRecord(
  connection: Connection,
  receiptId: string,
  accountId?: number,
): Promise<ReceiptRecord | null> {
  const [receipt] = await run<ReceiptRecord>(
    connection,
    `select ${RECEIPT_COLUMNS}, r.normalized_at, jsonb_path_query_array(r.history, '$[last - 499 to last]') as history, r.erased_at,
       ${BODY} as body, ${RAW_DELIVERY} as raw, r.source_number
     from receipts r ${JOIN_ORIGINAL}
     where r.receipt_id = $1 and ($2::int is null or r.account_id = $2)`,
    [receiptId, accountId],
  );
  return receipt ?? null;
}

/** When the oldest batch with a pending receipt was accepted, by the time in its id (UUIDv7); null when all receipts are final. */
export async function findOldestPending(connection: Connection): Promise<Date | null> {
  const oldest = 'select batch_id from outbox order by batch_id limit 1';
  const [row] = await run<{ batch_id: string }>(connection, oldest);
  return row ? new Date(timeOf(row.batch_id)) : null;
}
