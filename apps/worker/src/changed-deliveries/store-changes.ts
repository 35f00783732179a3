import { MAY_MOVE } from '@orders/database/receipts/find-receipt.ts';
import { idIn } from '@orders/database/receipts/uuids.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { Difference } from '@orders/domain/compare-orders.ts';
import { type DuplicateOrder, lastAccepted } from './find-changes.ts';

/** A changed delivery was accepted between the comparison and the lock. */
export class OutdatedComparison extends Error {}

const lockWith = (name: string, strength: 'share' | 'update') => ({
  name,
  // Never waits, so that an order that others lock delays no other one, and the order of the locks does not matter.
  text: `
with free_receipts as materialized (
  select receipt_id from receipts r where ${idIn('r.receipt_id', '$2')} and ${MAY_MOVE} for update skip locked
), free_orders as materialized (
  select o.*
  from (select distinct account_id, order_id from unnest($3::int[], $4::bigint[]) as i(account_id, order_id)) as i
  cross join lateral (
    select order_id, erased_at from orders
    where account_id = i.account_id and order_id = i.order_id
    offset 0
    for ${strength} skip locked
  ) as o
)
select receipt_id as "receiptId", erased_at is not null as "isErased"
from unnest($2::uuid[], $4::bigint[]) as i(receipt_id, order_id) join free_receipts using (receipt_id) join free_orders using (order_id)`,
});
const LOCK = lockWith('lock-changed-duplicates', 'share');
const LOCK_TO_CHANGE = lockWith('lock-duplicates-ordered-again', 'update');

const STORE = {
  name: 'store-changes',
  // A changed delivery with the same changes as the decided one before it takes over that decision. If a value was cut, it does not, as the rest of
  // the value is unknown; nor if the order was cancelled in between. A changed delivery that was compared with an outdated version is not inserted.
  text: `
with input as (
  select i.account_id, i.order_id, i.receipt_id, i.received_at, r.modified_at, coalesce(r.modified_at, i.received_at) as version_at,
         i.changes::jsonb as changes, i.is_outdated, i.accepted_by
  from unnest($1::int[], $2::bigint[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::boolean[], $8::text[], $9::boolean[])
    as i(account_id, order_id, receipt_id, changes, compared_with, received_at, is_outdated, accepted_by, has_other_content)
  cross join lateral (select modified_at from receipts where receipt_id = i.receipt_id and account_id = i.account_id offset 0) as r
  left join lateral (${lastAccepted('i')}) as accepted on true
  where not i.has_other_content or accepted.receipt_id is not distinct from i.compared_with
), compared as (
  select i.*, before.decision, before.decided_by, before.decided_at,
         bool_and(i.changes = before.changes and not i.changes @> '[{"cut": true}]' and not i.changes @> '[{"pointer": "/cancelled"}]')
           over (partition by i.account_id, i.order_id order by i.version_at, i.receipt_id) as takes_over,
         i.modified_at < max(i.modified_at) filter (where not i.is_outdated) over (partition by i.account_id, i.order_id) as has_newer
  from input i
  left join lateral (
    select changes, decision, decided_by, decided_at from changed_deliveries
    where account_id = i.account_id and order_id = i.order_id and changes is not null
      and (version_at, receipt_id) < (i.version_at, i.receipt_id)
    order by version_at desc, receipt_id desc limit 1
  ) as before on true
), superseded as (
  -- A join would read the whole table, as nested loops are off.
  update changed_deliveries set is_outdated = true
  where ctid = any(array(
    select waiting.ctid from input i
    cross join lateral (
      select ctid from changed_deliveries
      where account_id = i.account_id and order_id = i.order_id and modified_at < i.modified_at
        and changes is not null and decision is null and not is_outdated
      offset 0
    ) as waiting
    where not i.is_outdated
  ))
), decided as (
  select c.*, accepted_by is null and (takes_over and decision is not null) is not true as is_waiting from compared c
)
insert into changed_deliveries (account_id, order_id, receipt_id, received_at, modified_at, changes, is_outdated, decision, decided_by, decided_at)
select account_id, order_id, receipt_id, received_at, modified_at, changes,
       is_outdated or coalesce(has_newer and is_waiting and changes is not null, false),
       case when accepted_by is not null then 'accepted' when takes_over then decision end,
       coalesce(accepted_by, case when takes_over then decided_by end),
       case when accepted_by is not null then clock_timestamp() when takes_over then decided_at end
from decided
returning receipt_id as "receiptId"`,
};

/**
 * Locks these receipts and their orders, so that erasures and decisions are serialized with what follows. Does not wait.
 *
 * @param leaseId null for receipts that were read without a lease.
 * @param changesOrders whether the orders are changed, and not only read: a lock that is raised later could deadlock.
 * @returns the receipts that it locked with their orders, with whether the order was erased.
 */
export async function lockDuplicates(
  connection: Connection,
  leaseId: string | null,
  duplicates: readonly DuplicateOrder[],
  changesOrders: boolean,
): Promise<Map<string, { isErased: boolean }>> {
  const rows = await run<{ receiptId: string; isErased: boolean }>(connection, changesOrders ? LOCK_TO_CHANGE : LOCK, [
    leaseId,
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
  ]);
  return new Map(rows.map(({ receiptId, ...row }) => [receiptId, row]));
}

/** A duplicate that was moved, with what to store of its changes. */
export interface StoredChanges extends DuplicateOrder {
  /** With microseconds. */
  receivedAt: string;
  /** Null without any, or if its order was erased meanwhile. */
  differences: Difference[] | null;
  isOutdated: boolean;
  /** The source that sent it, if nothing of it waits for a decision; else null. */
  acceptedBy: string | null;
  /** Whether its content differs, and not only what it means, such as that the order is wanted again. */
  hasOtherContent: boolean;
  /** The accepted changed delivery that it was compared with. */
  acceptedId: string | null;
}

/**
 * Stores the changes of duplicates whose orders are locked.
 *
 * @throws {OutdatedComparison} when a comparison is outdated.
 */
export async function storeChanges(connection: Connection, duplicates: readonly StoredChanges[]): Promise<void> {
  const stored = await run<{ receiptId: string }>(connection, STORE, [
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ differences }) => differences && JSON.stringify(differences)),
    duplicates.map(({ acceptedId }) => acceptedId),
    duplicates.map(({ receivedAt }) => receivedAt),
    duplicates.map(({ isOutdated }) => isOutdated),
    duplicates.map(({ acceptedBy }) => acceptedBy),
    duplicates.map(({ hasOtherContent }) => hasOtherContent),
  ]);
  if (stored.length < duplicates.length) throw new OutdatedComparison();
}
