import type { ReceiptState } from '@orders/domain';
import type { Knex } from 'knex';
import { BODY, JOIN_ORIGINAL, RECEIPT_COLUMNS, type ReceiptRow } from './find-receipt.ts';
import { RETENTION_LOCK } from './partitions.ts';

/** A receipt with what only its operator and its account see: the past of its attempts, and the body as received. */
export interface ReceiptRecord extends ReceiptRow {
  normalized_at: Date | null;
  /** Failed attempts, lapsed leases and redrives, oldest first; null for the many that simply went through. */
  history: Record<string, unknown>[] | null;
  body: Buffer | null;
}

/** Receipts, newest first. */
export async function listReceipts(
  db: Knex,
  filter: { accountId?: number | undefined; state?: ReceiptState | undefined; limit: number },
): Promise<ReceiptRow[]> {
  const { rows } = await db.raw<{ rows: ReceiptRow[] }>(
    `select ${RECEIPT_COLUMNS} from receipts r ${JOIN_ORIGINAL}
     where (:accountId::int is null or r.account_id = :accountId) and (:state::text is null or r.state = :state)
     order by r.receipt_id desc limit :limit`,
    { accountId: filter.accountId ?? null, state: filter.state ?? null, limit: filter.limit },
  );
  return rows;
}

/** The receipt of this id, whosever it is, or null. */
export async function findReceiptRecord(db: Knex, receiptId: string): Promise<ReceiptRecord | null> {
  const { rows } = await db.raw<{ rows: ReceiptRecord[] }>(
    `select ${RECEIPT_COLUMNS}, r.normalized_at, r.history, ${BODY} as body
     from receipts r ${JOIN_ORIGINAL}
     where r.receipt_id = ?`,
    [receiptId],
  );
  return rows[0] ?? null;
}

/**
 * Sends a dead receipt round again with all its attempts; the sweeper rings for it.
 *
 * @returns false when it is not dead (any more), and nothing changed.
 */
export async function redriveReceipt(db: Knex, receiptId: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock_shared(?)', [RETENTION_LOCK]);
    const { rows } = await trx.raw(
      `with redriven as (
         update receipts
         set state = 'received', attempts = 0, crashes = 0, runs_alone = false, error_code = null, updated_at = now(),
             history = coalesce(history, '[]') || jsonb_build_object('redriven_at', now())
         where receipt_id = ? and state = 'dead'
         returning receipt_id
       )
       insert into outbox (batch_id, receipt_ids, due_at) select receipt_id, array[receipt_id], now() from redriven
       returning batch_id`,
      [receiptId],
    );
    return rows.length > 0;
  });
}

/** Ids of dead receipts, oldest first; of one account where that is given. */
export async function listDead(db: Knex, accountId?: number): Promise<string[]> {
  const dead = db('receipts').where({ state: 'dead' }).orderBy('receipt_id').pluck('receipt_id');
  return accountId === undefined ? dead : dead.where({ account_id: accountId });
}
