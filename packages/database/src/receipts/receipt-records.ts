import type { ReceiptState } from '@orders/domain';
import type { Knex } from 'knex';
import { BODY, JOIN_ORIGINAL, RECEIPT_COLUMNS, type ReceiptRow } from './find-receipt.ts';
import { LAST_UUID } from './list-receipts.ts';

/** A receipt with what only its operator and its account see: the past of its attempts, and the body as received. */
export interface ReceiptRecord extends ReceiptRow {
  normalized_at: Date | null;
  /** The last 500 failed attempts, lapsed leases and redrives, oldest first; null for the many that simply went through. */
  history: Record<string, unknown>[] | null;
  body: Buffer | null;
  /** When the personal data was taken out of the body. */
  erased_at: Date | null;
}

/** Receipts read at once; each may have a thousand warnings. */
const PORTION = 50;

/** Receipts, newest first, in portions that fit into memory; the dead are looked up among those. */
export async function* readReceipts(
  db: Knex,
  filter: { accountId?: number | undefined; state?: ReceiptState | undefined; limit: number },
): AsyncGenerator<ReceiptRow[]> {
  let left = filter.limit;
  let before = LAST_UUID;
  while (left > 0) {
    const limit = Math.min(left, PORTION);
    const { rows } = await db.raw<{ rows: ReceiptRow[] }>(
      `select ${RECEIPT_COLUMNS} from receipts r ${JOIN_ORIGINAL}
       where (:state::text is distinct from 'dead' or r.receipt_id = any(array(select d.receipt_id from dead_letters d
               where (:accountId::int is null or d.account_id = :accountId) and d.receipt_id < :before::uuid
               order by d.receipt_id desc limit :limit)))
         and (:accountId::int is null or r.account_id = :accountId) and (:state::text is null or r.state = :state)
         and r.receipt_id < :before::uuid
       order by r.receipt_id desc limit :limit`,
      { accountId: filter.accountId ?? null, state: filter.state ?? null, limit, before },
    );
    if (rows.length > 0) yield rows;
    // Of the dead ones some may have been sent round again since they were looked up.
    if (rows.length < limit && filter.state !== 'dead') return;
    if (rows.length === 0) return;
    left -= rows.length;
    before = rows.at(-1)?.receipt_id ?? before;
  }
}

/** The receipt of this id, or null; whosever it is, or of one account where that is given. */
export async function findReceiptRecord(
  db: Knex,
  receiptId: string,
  accountId?: number,
): Promise<ReceiptRecord | null> {
  const { rows } = await db.raw<{ rows: ReceiptRecord[] }>(
    `select ${RECEIPT_COLUMNS}, r.normalized_at, jsonb_path_query_array(r.history, '$[last - 499 to last]') as history, r.erased_at, ${BODY} as body
     from receipts r ${JOIN_ORIGINAL}
     where r.receipt_id = :receiptId and (:accountId::int is null or r.account_id = :accountId)`,
    { receiptId, accountId: accountId ?? null },
  );
  return rows[0] ?? null;
}
