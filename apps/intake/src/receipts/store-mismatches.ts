import type { Database } from '@orders/database/connect.ts';
import {
  DUE_AT,
  INSERT_OUTBOX,
  INSERT_PAYLOADS,
  type IncomingReceipt,
  incomingValues,
  RECEIPTS,
  STORED_COLUMNS,
  selectPayloads,
  unnestIncoming,
  WITHOUT_REPLAYS,
} from '@orders/database/receipts/record-receipts.ts';
import { run } from '@orders/database/run.ts';

/** A delivery that reuses an idempotency key with other content. */
export interface Mismatch extends IncomingReceipt {
  /** The `contentKey` of its content. */
  idempotencyKey: string;
  /** The receipt that first used the client's key. */
  originalId: string;
  /** Whether it has the same `source_order_id` as the original. If so it is a changed delivery, otherwise it is dead until it is redriven. */
  isSameOrder: boolean;
}

/** The key under which a mismatch is stored: the client's key with the content's fingerprint. A client's key cannot contain a space. */
export function contentKey(idempotencyKey: string, fingerprint: string): string {
  return `${idempotencyKey} sha256:${fingerprint}`;
}

const STORE = {
  name: 'store-mismatches',
  // Keys are inserted in key order, so that two intakes with the same keys do not deadlock. Dead letters are inserted here because the
  // trigger that maintains that table only fires on updates; an insert trigger would slow down every receipt.
  text: `
with incoming as (
  select * from ${unnestIncoming(['$18::uuid[]', '$19::boolean[]'], ['original_id', 'is_same_order'])}
), new_keys as (
  insert into idempotency_keys (account_id, idempotency_key, receipt_id)
  select account_id, idempotency_key, receipt_id from incoming
  order by account_id, idempotency_key collate "C"
  on conflict do nothing
  returning receipt_id
), replays as materialized (
  select receipt_id, account_id from incoming where receipt_id not in (select receipt_id from new_keys)
), accepted as materialized (
  select * from incoming where receipt_id in (select receipt_id from new_keys)
), payloads as (
  ${INSERT_PAYLOADS} ${selectPayloads(WITHOUT_REPLAYS)} where p.account_id in (select account_id from accepted)
), queued as (
  ${INSERT_OUTBOX} select $8::uuid, array_agg(receipt_id order by receipt_id), $11::int[], ${DUE_AT} from accepted where is_same_order having count(*) > 0
), dead as (
  insert into dead_letters (account_id, receipt_id, error_code, source_order_id, died_at)
  select account_id, receipt_id, 'idempotency_key_reused', source_order_id, now() from accepted where not is_same_order
), stored as (
  insert into receipts (${STORED_COLUMNS}, state, error_code, history)
  ${RECEIPTS},
         case when is_same_order then 'received' else 'dead' end,
         case when not is_same_order then 'idempotency_key_reused' end,
         jsonb_build_array(jsonb_build_object('kept_at', now(), 'kept_from', original_id))
  from accepted
)
select receipt_id as "receiptId" from accepted`,
};

/**
 * Stores mismatches of one account as new receipts, atomically in one statement: changed deliveries with an outbox row, the others as dead.
 *
 * @param batchId id of the outbox row, if there is one.
 * @param graceMs milliseconds until the sweeper takes the receipts if this process's wake-up is lost.
 * @returns the ids of the stored receipts. A missing one has content that was stored before, or that occurs twice in `mismatches`.
 */
export async function storeMismatches(
  database: Database,
  batchId: string,
  graceMs: number,
  mismatches: readonly Mismatch[],
): Promise<Set<string>> {
  const { receipts, values } = incomingValues(batchId, graceMs, mismatches);
  const rows = await run<{ receiptId: string }>(database, STORE, [
    ...values,
    receipts.map(({ originalId }) => originalId),
    receipts.map(({ isSameOrder }) => isSameOrder),
  ]);
  return new Set(rows.map(({ receiptId }) => receiptId));
}

const DELETE_KEY = {
  name: 'forget-idempotency-key',
  text: 'delete from idempotency_keys where account_id = $1::int and idempotency_key = $2::text and receipt_id = $3::uuid',
};

/** Deletes an idempotency key whose receipt no longer exists, so that the next delivery can use it. */
export async function deleteIdempotencyKey(
  database: Database,
  accountId: number,
  idempotencyKey: string,
  receiptId: string,
): Promise<void> {
  await run(database, DELETE_KEY, [accountId, idempotencyKey, receiptId]);
}
