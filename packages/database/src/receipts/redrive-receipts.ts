import { reopenBuckets } from '../activity/buckets.ts';
import { recordAudit } from '../audit.ts';
import type { Database } from '../connect.ts';
import { execute, inTransaction, RETENTION_LOCK, run } from '../run.ts';
import { mapUnmapped } from '../sources/map-unmapped.ts';
import { ascending, idIn } from './uuids.ts';

/**
 * Redrives dead receipts with all their attempts; the sweeper finds them. It is audited if there is an actor. Deliveries that could
 * not be mapped are mapped again first: those still without a `source_order_id` stay dead, and cancellations are carried out here.
 *
 * @param by `accountId`: only receipts of this account.
 * @returns the ids of the receipts that were redriven, ascending; others are not changed.
 */
export async function redriveReceipts(
  database: Database,
  receiptIds: readonly string[],
  by: { accountId?: number; actor?: string } = {},
): Promise<string[]> {
  if (receiptIds.length === 0) return [];
  const ended = await mapUnmapped(database, receiptIds, by.accountId ?? null);
  return inTransaction(database, async (transaction) => {
    await execute(transaction, 'select pg_advisory_xact_lock_shared($1)', [RETENTION_LOCK]);
    const rows = await run<{ receipt_id: string; account_id: number }>(
      transaction,
      `with redriven as (
         update receipts
         set state = 'received', attempts = 0, crashes = 0, runs_alone = false, error_code = null, updated_at = now(),
             history = coalesce(history, '[]') || jsonb_build_object('redriven_at', now())
         where ${idIn('receipt_id', '$1')} and state = 'dead' and ($2::int is null or account_id = $2::int)
           and delivery_kind is distinct from 'cancellation' and (error_code is distinct from 'mapping_failed' or raw_length is not null)
         returning receipt_id, account_id
       ), queued as (
         insert into outbox (batch_id, receipt_ids, account_ids, due_at)
         select (array_agg(receipt_id order by receipt_id))[1], array_agg(receipt_id order by receipt_id),
                array_agg(distinct account_id), now()
         from redriven having count(*) > 0
       )
       select receipt_id, account_id from redriven order by receipt_id`,
      [ascending(receiptIds), by.accountId],
    );
    rows.push(...ended);
    await reopenBuckets(transaction, rows);
    const { actor } = by;
    if (actor !== undefined) {
      const entry = { actor, action: 'receipt_redriven' };
      await recordAudit(
        transaction,
        ...rows.map((row) => ({ ...entry, accountId: row.account_id, subject: `receipt:${row.receipt_id}` })),
      );
    }
    return ascending(rows.map(({ receipt_id }) => receipt_id));
  });
}
