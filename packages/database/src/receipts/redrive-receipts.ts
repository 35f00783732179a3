import type { DeliveryKind } from '@orders/domain/sources/delivery-kind.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { kindOfMapped, mapStoredDelivery } from '@orders/domain/sources/read-delivery.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import { reopenBuckets } from '../activity/buckets.ts';
import { recordAudit } from '../audit.ts';
import type { Database } from '../connect.ts';
import { SQLSTATE, sqlstateOf } from '../database-errors.ts';
import { type Connection, execute, inTransaction, RETENTION_LOCK, run } from '../run.ts';
import { findReceiptBody } from './find-receipt.ts';
import { ascending, idIn, newBatchIdFor } from './uuids.ts';

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

interface ReceiptKey {
  receipt_id: string;
  account_id: number;
}

interface Unmapped extends ReceiptKey {
  source_number: number;
  delivery_kind: DeliveryKind;
  modified_at: Date | null;
  mapping: OrderMapping;
  settings: SourceSettings;
}

const FIND = `
select r.receipt_id, r.account_id, r.source_number, r.delivery_kind, r.modified_at, s.mapping, s.settings
from receipts r
join sources s on s.account_id = r.account_id and s.source_number = r.source_number
where ${idIn('r.receipt_id', '$1')} and r.state = 'dead' and r.error_code = 'mapping_failed' and r.raw_length is null
  and ($2::int is null or r.account_id = $2::int)
order by r.receipt_id`;

/**
 * Maps dead deliveries that had no `source_order_id` by the mapping that their source has now, and ends those of which no order is made:
 * cancellations, which are carried out, and orders that their platform had finished before any other delivery. Bodies are read one at a time, because each may be long. Each delivery has its own transaction.
 *
 * @param accountId null for all accounts.
 * @returns the receipts that were ended; they are `duplicate` now. All others are still dead.
 */
async function mapUnmapped(
  database: Database,
  receiptIds: readonly string[],
  accountId: number | null,
): Promise<ReceiptKey[]> {
  const ended: ReceiptKey[] = [];
  for (const found of await run<Unmapped>(database, FIND, [ascending(receiptIds), accountId])) {
    const { receipt_id, account_id, source_number, mapping, settings } = found;
    const body = await findReceiptBody(database, account_id, receipt_id);
    if (!body || !mapStoredDelivery(body, mapping, '')) continue;
    // As in `useSource`: its prefix stays from now on.
    const [used] = await run<{ id_prefix: string }>(
      database,
      `update sources set used_at = coalesce(used_at, now()) where account_id = $1 and source_number = $2
       returning id_prefix`,
      [account_id, source_number],
    );
    const payload = used && mapStoredDelivery(body, mapping, used.id_prefix);
    if (!payload) continue;
    const delivery_kind = kindOfMapped(found.delivery_kind, payload, settings);
    const unmapped = { ...found, delivery_kind };
    const isOrder =
      ['order', 'unpaid', 'test'].includes(delivery_kind) ||
      (delivery_kind === 'finished' && (await hasOrder(database, account_id, payload)));
    if (isOrder) await storeMapped(database, unmapped, payload);
    else if (await end(database, unmapped, payload)) ended.push({ receipt_id, account_id });
  }
  return ended;
}

async function hasOrder(connection: Connection, accountId: number, { source_order_id }: Payload): Promise<boolean> {
  const rows = await run(
    connection,
    'select from order_keys where account_id = $1 and source_order_id = $2 and order_id is not null',
    [accountId, source_order_id],
  );
  return rows.length > 0;
}

type Payload = NonNullable<ReturnType<typeof mapStoredDelivery>>;

/** @returns whether it still was unmapped. */
async function storeMapped(
  connection: Connection,
  { receipt_id, account_id, delivery_kind }: Unmapped,
  payload: Payload,
): Promise<boolean> {
  const values = [account_id, receipt_id, payload.source_order_id, Buffer.from(JSON.stringify(payload))];
  const [row] = await run<{ mapped: boolean }>(
    connection,
    'select map_unmapped_receipt($1, $2, $3, $4, $5, $6) as mapped',
    [...values, newBatchIdFor(receipt_id), delivery_kind],
  );
  return row?.mapped === true;
}

/** @returns false if its order is locked, or the receipt was changed meanwhile; then nothing was changed. */
async function end(database: Database, unmapped: Unmapped, payload: Payload): Promise<boolean> {
  const { receipt_id, account_id, source_number, delivery_kind, modified_at } = unmapped;
  try {
    return await inTransaction(database, async (transaction) => {
      if (!(await storeMapped(transaction, unmapped, payload))) return false;
      await execute(
        transaction,
        `update receipts set state = 'duplicate', error_code = null, updated_at = now()
         where receipt_id = $1 and account_id = $2`,
        [receipt_id, account_id],
      );
      if (delivery_kind === 'cancellation')
        await execute(transaction, 'select cancel_order_of_source($1, $2, $3, $4)', [
          account_id,
          source_number,
          payload.source_order_id,
          modified_at,
        ]);
      return true;
    });
  } catch (error) {
    const sqlstate = sqlstateOf(error);
    if (sqlstate === SQLSTATE.lockNotAvailable || sqlstate === SQLSTATE.serializationFailure) return false;
    throw error;
  }
}
