import type { NormalizedOrder } from '@orders/domain/order.ts';
import { severityOf } from '@orders/domain/severity.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import { MAY_MOVE, NORMALIZED_AT } from '../receipts/find-receipt.ts';
import { idIn } from '../receipts/uuids.ts';
import { type Connection, columnOf, IS_LIMITED, LOCK_WAIT_MS, limitLockWait, runToEnd } from '../run.ts';

/** A claimed receipt with its normalized order. */
export interface WritableOrder extends NormalizedOrder {
  receiptId: string;
  accountId: number;
  /** See `absentFields`. */
  absent: readonly string[];
}

/** A receipt that became an order. */
export interface Written {
  receiptId: string;
  orderId: number;
  /** Time since it was received, in seconds. */
  seconds: number;
}

/** A receipt of an order that the account already has. */
export interface DuplicateReceipt {
  receiptId: string;
  orderId: number;
}

/** The columns of an order that come from its payload, one value each, with their types. Items and warnings follow, as JSON. */
const VALUES: readonly [column: string, type: string, valueFor: (normalized: NormalizedOrder) => string | null][] = [
  ['order_number', 'text', ({ order }) => order.order_number],
  ['customer_name', 'text', ({ order }) => order.customer.name],
  ['customer_phone', 'text', ({ order }) => order.customer.phone],
  ['customer_email', 'text', ({ order }) => order.customer.email],
  ['customer_id', 'text', ({ order }) => order.customer.id],
  ['address', 'text', ({ order }) => order.address],
  ['emirate', 'text', ({ order }) => order.emirate],
  ['emirate_code', 'text', ({ order }) => order.emirate_code],
  ['area', 'text', ({ order }) => order.area],
  ['total', 'numeric', ({ order }) => order.total],
  ['currency', 'text', ({ order }) => order.currency],
  ...TEXT_FIELD_NAMES.map((name): (typeof VALUES)[number] => [name, 'text', ({ order }) => order[name]]),
  ['severity', 'text', ({ order, warnings }) => severityOf(order, warnings)],
];

/** SQL: the fields of an order that come from its payload. */
const ORDER_FIELDS = `${VALUES.map(([column]) => column).join(', ')}, items, warnings`;

/** SQL: the columns of a new order that come from its receipt and its payload. */
export const ORDER_COLUMNS = `account_id, order_id, source_order_id, channel, receipt_id, received_at, source_number, platform_modified_at, is_test,
  ${ORDER_FIELDS}`;

/** SQL: moves `receipts r` to `written`, with the warnings of `i`. */
export const setWritten = (orderId: string) => `
set state = 'written', order_id = ${orderId}, attempts = r.attempts + 1,
    warnings = case when i.warnings <> '[]' then i.warnings end, error_code = null,
    normalized_at = ${NORMALIZED_AT}, updated_at = now(), lease_id = null, lease_expires_at = null`;

/** The first parameter of `INPUT` for `VALUES`, and the ones for items and warnings. */
const [FIRST, ITEMS] = [5, 5 + VALUES.length];

/** SQL: the parameter with the milliseconds that a statement with `INPUT` waits for a lock. */
export const LOCK_WAIT = `$${ITEMS + 2}`;

/** SQL: the orders to write, as rows `i` with `receipt_id`, `account_id`, `source_order_id` and the fields; see `inputOf`. */
export const INPUT = `
rows from (
  unnest($2::uuid[], $3::int[], $4::text[], ${VALUES.map(([, type], index) => `$${FIRST + index}::${type}[]`).join(', ')}),
  jsonb_array_elements($${ITEMS}::jsonb), jsonb_array_elements($${ITEMS + 1}::jsonb)
) as i(receipt_id, account_id, source_order_id, ${ORDER_FIELDS})`;

/**
 * SQL: records the event of each receipt of `moved` that became an order, if its account has events enabled. One look-up of
 * the batch's accounts, so that accounts without events add no row and no WAL. The publisher adds the warnings.
 *
 * @param accountIds the parameter with the accounts of `moved`.
 */
export const recordWritten = (accountIds: string) => `
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id)
  select account_id, 'receipt.written', receipt_id, source_order_id, order_id
  from moved
  where account_id = any(array(select account_id from event_logs where account_id = any(${accountIds}::int[]) and is_enabled))
  order by account_id, source_order_id`;

const WRITE = {
  name: 'write-orders',
  // Receipts are updated first: only those moved become orders. Duplicates are only returned, so that new orders do not
  // wait for the comparison. Keys are inserted in order, so that two workers with the same keys do not deadlock. If another worker
  // has committed a key meanwhile, the unique index makes the whole statement fail.
  text: `
with ${limitLockWait(LOCK_WAIT)},
input as materialized (
  select i.*, (
      select coalesce(k.order_id, 0) from order_keys k where k.account_id = i.account_id and k.source_order_id = i.source_order_id
    ) as earlier_order_id
  from ${INPUT}
  where ${IS_LIMITED}
), moved as (
  update receipts r ${setWritten("nextval('order_ids')")}
  from input i
  where i.earlier_order_id is null
    and ${idIn('r.receipt_id', '$2')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
    and ${MAY_MOVE}
  returning i.*, r.order_id, r.channel, r.received_at, r.source_number, r.modified_at as platform_modified_at,
            coalesce(r.delivery_kind = 'test', false) as is_test,
            case r.delivery_kind when 'unpaid' then 'awaiting_payment' else 'needs_review' end as review_state
), keyed as (
  insert into order_keys (account_id, source_order_id, order_id)
  select account_id, source_order_id, order_id
  from moved
  order by account_id, source_order_id
), created as (
  insert into orders (${ORDER_COLUMNS}, review_state)
  select ${ORDER_COLUMNS}, review_state
  from moved
), recorded as (${recordWritten('$3')}
), settled as (
  delete from outbox
  where batch_id = any($${ITEMS + 3}::uuid[])
    and not exists (select from unnest(receipt_ids) as pending(id) where id not in (select receipt_id from moved))
)
select receipt_id as "receiptId", order_id as "orderId", date_part('epoch', clock_timestamp() - received_at) as seconds
from moved
union all
select receipt_id, earlier_order_id, null
from input i where earlier_order_id is not null`,
};

/**
 * Writes orders and moves their receipts to `written` in one transaction. A receipt that is no longer ours is not changed and not
 * returned. If the account already has an order with the `source_order_id`, the receipt is not changed and returned in `duplicates`, for
 * `writeDuplicates`; if a cancellation is held for it, in `cancelledIds`, for `writeCancelled`. Deletes, in the same transaction, the outbox
 * rows whose receipts were all moved.
 *
 * @param leaseId null for receipts that were read without a lease.
 * @param batchIds ids of the outbox rows to check.
 * @param lockWaitMs how long it waits for each lock, in milliseconds.
 * @throws {pg.DatabaseError} and nothing is written; a unique violation when another worker has just written one of the orders, or when two
 * new ones have the same account and `source_order_id`; `isLockWaitOver` when another transaction holds one of the receipts or keys.
 */
export async function writeOrders(
  database: Connection,
  leaseId: string | null,
  batchIds: readonly string[],
  orders: readonly WritableOrder[],
  lockWaitMs = LOCK_WAIT_MS,
): Promise<{ written: Written[]; duplicates: DuplicateReceipt[]; cancelledIds: string[] }> {
  // Without an order id, the key holds a cancellation.
  type Row = DuplicateReceipt & { seconds: number | null };
  const rows = await runToEnd<Row>(database, WRITE, [leaseId, ...inputOf(orders, lockWaitMs), batchIds]);
  const isWritten = ({ seconds }: Row) => seconds !== null;
  return {
    written: rows.filter(isWritten) as Written[],
    duplicates: rows.filter((row) => !isWritten(row) && row.orderId !== 0),
    cancelledIds: rows.filter(({ orderId }) => orderId === 0).map(({ receiptId }) => receiptId),
  };
}

/** The parameters of `INPUT`, from $2 on, and `LOCK_WAIT`. */
export function inputOf(unsorted: readonly WritableOrder[], lockWaitMs: number): unknown[] {
  const orders = unsorted.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  return [
    orders.map(({ receiptId }) => receiptId),
    orders.map(({ accountId }) => accountId),
    orders.map(({ order }) => order.source_order_id),
    ...VALUES.map(([, , valueFor]) => columnOf(orders.map(valueFor))),
    // One JSON string for all: for an array of JSON strings, the driver escapes each quote, which can take ten times their length.
    JSON.stringify(orders.map(({ order }) => order.items)),
    JSON.stringify(orders.map(({ warnings }) => warnings)),
    lockWaitMs,
  ];
}
