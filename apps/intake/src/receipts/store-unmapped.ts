import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { DeliveryKind } from '@orders/domain/sources/delivery-kind.ts';

/** A delivery in which the mapping of its source found no `source_order_id`. */
export interface UnmappedDelivery {
  receiptId: string;
  accountId: number;
  sourceNumber: number;
  kind: DeliveryKind;
  modifiedAt: Date | null;
  /** The exact bytes received. */
  body: Buffer;
}

const STORE = {
  name: 'store-unmapped-delivery',
  // Its own id takes the place of the order's id, so that no two of them look like one order.
  text: `
with payload as (
  insert into receipt_payloads (batch_id, account_id, bodies) values ($1::uuid, $2::int, $5::bytea)
), dead as (
  insert into dead_letters (account_id, receipt_id, error_code, source_order_id, died_at)
  values ($2::int, $1::uuid, 'mapping_failed', $1::uuid::text, now())
)
insert into receipts (receipt_id, account_id, channel, source_order_id, batch_id, body_start, body_length, source_number, state,
                      error_code, delivery_kind, modified_at)
values ($1::uuid, $2::int, 'webhook', $1::uuid::text, $1::uuid, 1, length($5::bytea), $3::int, 'dead', 'mapping_failed',
        $4::text, $6::timestamptz)`,
};

/** Stores a delivery that cannot be mapped as a dead receipt, atomically in one statement. */
export async function storeUnmapped(database: Database, delivery: UnmappedDelivery): Promise<void> {
  const { receiptId, accountId, sourceNumber, kind, modifiedAt, body } = delivery;
  await run(database, STORE, [receiptId, accountId, sourceNumber, kind, body, modifiedAt]);
}
