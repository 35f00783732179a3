import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { mapStoredDelivery, modifiedAt } from '@orders/domain/sources/read-delivery.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import type { Knex } from 'knex';
import { SQLSTATE, sqlstateOf } from '../database-errors.ts';
import { BODY } from '../receipts/find-receipt.ts';
import { ascending, idIn, newBatchIdFor } from '../receipts/uuids.ts';

interface ReceiptKey {
  receipt_id: string;
  account_id: number;
}

interface Unmapped extends ReceiptKey {
  source_number: number;
  is_cancellation: boolean;
  mapping: OrderMapping;
  settings: SourceSettings;
}

/** A row of `cancel_order_of_source`. */
interface CancelledRow {
  orderId: number;
  /** Null unless a confirmation was taken back. */
  shownAt: Date | null;
}

const FIND = `
select r.receipt_id, r.account_id, r.source_number, r.is_cancellation, s.mapping, s.settings
from receipts r
join sources s on s.account_id = r.account_id and s.source_number = r.source_number
where ${idIn('r.receipt_id', ':ids')} and r.state = 'dead' and r.error_code = 'mapping_failed' and r.raw_length is null
  and (:accountId::int is null or r.account_id = :accountId)
order by r.receipt_id`;

/**
 * Maps dead deliveries that had no `source_order_id` by the mapping that their source has now, and carries out those that are
 * cancellations. Bodies are read one at a time, because each may be long. Each delivery has its own transaction.
 *
 * @param accountId null for all accounts.
 * @returns the receipts whose cancellation was carried out; they are `duplicate` now. All others are still dead.
 */
export async function mapUnmapped(
  db: Knex,
  receiptIds: readonly string[],
  accountId: number | null,
): Promise<ReceiptKey[]> {
  const { rows } = await db.raw<{ rows: Unmapped[] }>(FIND, { ids: ascending(receiptIds), accountId });
  const cancelled: ReceiptKey[] = [];
  for (const unmapped of rows) {
    const { receipt_id, account_id, source_number, mapping, settings, is_cancellation } = unmapped;
    const key = [receipt_id, account_id];
    const found = await db.raw(`select ${BODY} as body from receipts r where receipt_id = ? and account_id = ?`, key);
    const body: Buffer | undefined = found.rows[0]?.body;
    if (!body || !mapStoredDelivery(body, mapping, '')) continue;
    // As in `useSource`: its prefix stays from now on.
    const [used] = await db('sources')
      .where({ account_id, source_number })
      .update({ used_at: db.raw('coalesce(used_at, now())') })
      .returning<{ id_prefix: string }[]>('id_prefix');
    const payload = used && mapStoredDelivery(body, mapping, used.id_prefix);
    if (!payload) continue;
    if (!is_cancellation) await storeMapped(db, unmapped, payload);
    else if (await cancel(db, unmapped, payload, settings.modifiedAt ? modifiedAt(body, settings.modifiedAt) : null))
      cancelled.push({ receipt_id, account_id });
  }
  return cancelled;
}

type Payload = NonNullable<ReturnType<typeof mapStoredDelivery>>;

/** @returns whether it still was unmapped. */
async function storeMapped(db: Knex, { receipt_id, account_id }: Unmapped, payload: Payload): Promise<boolean> {
  const values = [account_id, receipt_id, payload.source_order_id, Buffer.from(JSON.stringify(payload))];
  const { rows } = await db.raw('select map_unmapped_receipt(?, ?, ?, ?, ?) as mapped', [
    ...values,
    newBatchIdFor(receipt_id),
  ]);
  return rows[0].mapped;
}

/** @returns false if its order is locked, or the receipt was changed meanwhile; then nothing was changed. */
async function cancel(db: Knex, unmapped: Unmapped, payload: Payload, changedAt: Date | null): Promise<boolean> {
  const { receipt_id, account_id, source_number } = unmapped;
  try {
    const { isCancelled, late } = await db.transaction(async (trx) => {
      if (!(await storeMapped(trx, unmapped, payload))) return { isCancelled: false, late: [] };
      await trx('receipts')
        .where({ receipt_id, account_id })
        .update({ state: 'duplicate', error_code: null, updated_at: trx.fn.now() });
      const { rows } = await trx.raw<{ rows: CancelledRow[] }>('select * from cancel_order_of_source(?, ?, ?, ?)', [
        account_id,
        source_number,
        payload.source_order_id,
        changedAt,
      ]);
      return { isCancelled: true, late: rows.filter(({ shownAt }) => shownAt !== null) };
    });
    for (const { orderId, shownAt } of late)
      await db.raw('select request_late_cancellations(?, array[?]::bigint[], array[?]::timestamptz[])', [
        account_id,
        orderId,
        shownAt as Date,
      ]);
    return isCancelled;
  } catch (error) {
    const sqlstate = sqlstateOf(error);
    if (sqlstate === SQLSTATE.lockNotAvailable || sqlstate === SQLSTATE.serializationFailure) return false;
    throw error;
  }
}
