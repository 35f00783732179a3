import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isDamage } from '@orders/database/database-errors.ts';
import { type OrderRow, orderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import type { DuplicateReceipt, WritableOrder } from '@orders/database/orders/write-orders.ts';
import { BODY } from '@orders/database/receipts/find-receipt.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { mergeSent } from '@orders/domain/absent-fields.ts';
import { compareChangedDelivery, type Difference, isDeliveryChanged } from '@orders/domain/compare-orders.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import type { Order } from '@orders/domain/order.ts';
import { LONG_BODY_BYTES, parseStoredBody } from '@orders/domain/parse-body.ts';

/** The content of a duplicate receipt. */
export type DuplicateOrder = WritableOrder & DuplicateReceipt;

/**
 * SQL: the `receipt_id` of the last accepted changed delivery of the order of `alias`. Only the newest changed delivery with changes can be decided,
 * so the newest accepted one is also the last accepted one.
 */
export const lastAccepted = (alias: string, condition = '') => `
  select receipt_id from changed_deliveries
  where account_id = ${alias}.account_id and order_id = ${alias}.order_id and changes is not null and decision = 'accepted'
    ${condition}
  order by version_at desc, receipt_id desc limit 1`;

/** Max length of the items of stored orders per query, in characters of JSON, unless a single order has more. */
const CHUNK_LENGTH = 2 ** 20;

const FIND_ORDERS = {
  name: 'find-orders-of-duplicates',
  text: `
select * from (
  select o.*, sum(octet_length(o.items::text)) over (order by o.order_id) - octet_length(o.items::text) as length_before
  from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
  cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
  where o.erased_at is null
) as o
where length_before < ${CHUNK_LENGTH}
order by order_id`,
};

const BEFORE = `
    and ($5::uuid is null or (version_at, receipt_id) < (
      select version_at, receipt_id from changed_deliveries
      where account_id = i.account_id and order_id = i.order_id and receipt_id = $5::uuid))`;

const FIND_ACCEPTED_VERSIONS = {
  name: 'find-accepted-versions',
  text: `
select i.order_id as "orderId", accepted.receipt_id as "acceptedId", r.erased_at as "erasedAt",
       case when $4::boolean then ${BODY} end as body
from unnest($1::int[], $2::bigint[], $3::uuid[]) as i(account_id, order_id, receipt_id)
left join lateral (${lastAccepted('i', BEFORE)}) as accepted on true
left join lateral (
  select * from receipts where receipt_id = coalesce(accepted.receipt_id, i.receipt_id) and account_id = i.account_id
  offset 0
) as r on true`,
};

/** Differences between a receipt and its order. */
export interface Changes {
  differences: Difference[];
  /** The accepted changed delivery that it was compared with; null if it was compared with the original. */
  acceptedId: string | null;
}

/**
 * Compares receipts with the sender's last accepted version of their order: the last accepted changed delivery, or else the original. A reviewer's
 * edit is thus not reported as a change by the sender. A receipt that equals the current order has no changes. If the payload of the last
 * accepted version no longer exists, or it needs more than ten earlier ones, the current order is used instead. Orders of erased customers are not compared.
 *
 * @returns the changes of the receipts that differ, by receipt id.
 */
export async function findChanges(
  database: Connection,
  duplicates: readonly DuplicateOrder[],
): Promise<Map<string, Changes>> {
  const changes = new Map<string, Changes>();
  const byId = new Map(duplicates.map((duplicate) => [duplicate.orderId, duplicate]));
  let unread = [...byId.values()].toSorted((a, b) => a.orderId - b.orderId);
  while (unread.length > 0) {
    const rows = await run<OrderRow>(database, FIND_ORDERS, [
      unread.map(({ accountId }) => accountId),
      unread.map(({ orderId }) => orderId),
    ]);
    await compareWith(database, rows, duplicates, changes);
    const last = rows.at(-1)?.order_id ?? Number.POSITIVE_INFINITY;
    unread = unread.filter(({ orderId }) => orderId > last);
  }
  return changes;
}

/** Adds the changes of the duplicates of these orders. */
async function compareWith(
  database: Connection,
  rows: readonly OrderRow[],
  duplicates: readonly DuplicateOrder[],
  changes: Map<string, Changes>,
): Promise<void> {
  const stored = new Map(rows.map((row) => [row.order_id, { row, order: toOrder(toJson(row)) }]));
  const differing = duplicates.filter((duplicate) => {
    const current = stored.get(duplicate.orderId);
    // The order's own receipt: another worker has just written it.
    return current && current.row.receipt_id !== duplicate.receiptId && isDeliveryChanged(current.order, duplicate);
  });
  if (differing.length === 0) return;
  const byOrder = Map.groupBy(differing, ({ orderId }) => orderId);
  const versions = await findAcceptedVersions(
    database,
    rows.filter((row) => byOrder.has(row.order_id)),
  );
  // One at a time, as a normalized payload can be fifty times as large. Other batches can run between long ones.
  for (const accepted of versions) {
    const current = stored.get(accepted.orderId);
    if (accepted.erasedAt !== null || !current) continue;
    const version = (await readVersion(database, accepted, current.row)) ?? current.order;
    for (const duplicate of byOrder.get(accepted.orderId) ?? []) {
      const differences = compareChangedDelivery(version, duplicate);
      if (differences.length > 0) changes.set(duplicate.receiptId, { differences, acceptedId: accepted.acceptedId });
    }
  }
}

/** A platform can have its payments accepted without end, and each version is in memory with those before it. */
const MAX_VERSIONS = 10;

/**
 * What an accepted changed delivery does not mention is as in the version before it. @returns null if a payload no longer exists, or if more than
 * `MAX_VERSIONS` are needed.
 */
async function readVersion(
  database: Connection,
  accepted: AcceptedVersion,
  row: OrderRow,
  count = 1,
): Promise<Order | null> {
  const { acceptedId, body } = accepted;
  if (body === null || count > MAX_VERSIONS) return null;
  if (body.length > LONG_BODY_BYTES) await yieldToEventLoop();
  const sent = normalizeSent(parseStoredBody(body));
  if (acceptedId === null || sent.absent.length === 0) return sent.order;
  const [earlier] = await findAcceptedVersions(database, [row], { readsBodies: true, beforeId: acceptedId });
  const before = earlier && (await readVersion(database, earlier, row, count + 1));
  return before ? mergeSent(before, sent) : null;
}

/** The sender's last accepted version of an order. */
interface AcceptedVersion {
  orderId: number;
  acceptedId: string | null;
  erasedAt: Date | null;
  /** Null if the payload no longer exists or is unreadable. */
  body: Buffer | null;
}

/**
 * The versions that count, or with `beforeId` the one before that accepted changed delivery. An unreadable body must not prevent the comparison of
 * the others: on damage, bodies are read one by one and the damaged one is omitted.
 */
async function findAcceptedVersions(
  database: Connection,
  rows: readonly OrderRow[],
  { readsBodies, beforeId }: { readsBodies: boolean; beforeId: string | null } = { readsBodies: true, beforeId: null },
): Promise<AcceptedVersion[]> {
  try {
    return await run<AcceptedVersion>(database, FIND_ACCEPTED_VERSIONS, [
      rows.map((row) => row.account_id),
      rows.map((row) => row.order_id),
      rows.map((row) => row.receipt_id),
      readsBodies,
      beforeId,
    ]);
  } catch (error) {
    if (!isDamage(error) || !readsBodies) throw error;
    if (rows.length === 1) return findAcceptedVersions(database, rows, { readsBodies: false, beforeId });
    const versions: AcceptedVersion[] = [];
    for (const row of rows) versions.push(...(await findAcceptedVersions(database, [row])));
    return versions;
  }
}
