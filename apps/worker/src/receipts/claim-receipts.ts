import type { Database } from '@orders/database/connect.ts';
import { ascending, idIn } from '@orders/database/receipts/uuids.ts';
import { IS_LIMITED, isLockWaitOver, LOCK_WAIT_MS, limitLockWait, run, runToEnd } from '@orders/database/run.ts';
import { type PendingReceipt, type PendingRow, selectPicked, withBodies } from './pending-receipts.ts';

// Available: new, due for a retry, or released by a worker in an outage.
const AVAILABLE = `(state = 'received' or (state = 'failed' and next_attempt_at <= now()) or (state = 'normalized' and lease_id is null))`;
const LEASE_EXPIRED = `(state = 'normalized' and lease_id is not null and lease_expires_at < now())`;

const CLAIM = {
  name: 'claim-receipts',
  // SKIP LOCKED: a locked row is being claimed or written by another worker, and waiting could deadlock. The commit need not be flushed: if
  // a crash of Postgres loses the claim, the receipts are available again and the write under the lost lease matches no row.
  text: `
with unflushed as materialized (
  select set_config('synchronous_commit', 'off', true)
), free as materialized (
  select receipt_id, account_id from receipts
  where ${idIn('receipt_id', '$1')} and not runs_alone and ${AVAILABLE} and exists (select from unflushed)
  for update skip locked
), picked as (
  update receipts r
  set state = 'normalized', lease_id = $2::uuid, lease_expires_at = now() + $3::int * interval '1 ms',
      normalized_at = now(), updated_at = now(), next_attempt_at = null
  from free
  where ${idIn('r.receipt_id', '$1')} and r.receipt_id = free.receipt_id and r.account_id = free.account_id
  returning r.*
)
${selectPicked('$4')}`,
};

/**
 * Claims the available receipts under one lease and returns them in the order in which they were received.
 *
 * @param leaseMs duration of the lease in milliseconds.
 * @param readsBodies false does not read the bodies, as one unreadable body makes the whole claim fail.
 */
export async function claimReceipts(
  database: Database,
  receiptIds: readonly string[],
  leaseId: string,
  leaseMs: number,
  readsBodies = true,
): Promise<PendingReceipt[]> {
  return withBodies(await run<PendingRow>(database, CLAIM, [ascending(receiptIds), leaseId, leaseMs, readsBodies]));
}

const FIND_SUSPECTS = {
  name: 'find-suspects',
  text: `select receipt_id from receipts where ${idIn('receipt_id', '$1')} and (${LEASE_EXPIRED} or (runs_alone and ${AVAILABLE})) order by 1`,
};

/** Returns the receipts whose worker crashed, in the last attempt or an earlier one. They must be processed alone. */
export async function findSuspects(database: Database, receiptIds: readonly string[]): Promise<string[]> {
  const rows = await run<{ receipt_id: string }>(database, FIND_SUSPECTS, [ascending(receiptIds)]);
  return rows.map((row) => row.receipt_id);
}

const CLAIM_ALONE = {
  name: 'claim-alone',
  text: `
with suspect as materialized (
  select receipt_id, account_id, ${LEASE_EXPIRED} as lapsed, crashes + (${LEASE_EXPIRED} and runs_alone)::int as crashes
  from receipts
  where receipt_id = $1::uuid and (${LEASE_EXPIRED} or (runs_alone and ${AVAILABLE}))
  for update skip locked
), picked as (
  update receipts r
  set state = case when s.crashes >= $4::int then 'dead' else 'normalized' end,
      error_code = case when s.crashes >= $4::int then 'worker_crashed' end,
      lease_id = case when s.crashes >= $4::int then null else $2::uuid end,
      lease_expires_at = case when s.crashes >= $4::int then null else now() + $3::int * interval '1 ms' end,
      normalized_at = now(), updated_at = now(), next_attempt_at = null, runs_alone = true, crashes = s.crashes,
      history = case when s.lapsed
        then coalesce(r.history, '[]') || jsonb_build_object('lease_lapsed_at', now(), 'normalized_at', r.normalized_at)
        else r.history end
  from suspect s
  where r.receipt_id = $1::uuid and r.receipt_id = s.receipt_id and r.account_id = s.account_id
  returning r.*
)
${selectPicked('$5')}`,
};

/**
 * Claims one receipt whose worker crashed, under its own lease.
 *
 * @param maxCrashes after this many crashes alone the receipt becomes `dead` with `worker_crashed` instead.
 * @param readsBodies as for `claimReceipts`.
 * @returns `dead` if it has just become dead; null if it is not available.
 */
export async function claimAlone(
  database: Database,
  receiptId: string,
  leaseId: string,
  leaseMs: number,
  maxCrashes: number,
  readsBodies = true,
): Promise<PendingReceipt | 'dead' | null> {
  const values = [receiptId, leaseId, leaseMs, maxCrashes, readsBodies];
  const rows = await run<PendingRow>(database, CLAIM_ALONE, values);
  return rows[0]?.state === 'dead' ? 'dead' : (withBodies(rows)[0] ?? null);
}

const RELEASE = {
  name: 'release-lease',
  text: `
with ${limitLockWait('$3')}
update receipts set lease_id = null, lease_expires_at = null, updated_at = now()
where ${idIn('receipt_id', '$1')} and lease_id = $2::uuid and state = 'normalized' and ${IS_LIMITED}`,
};

const RELEASE_UNLOCKED = {
  name: 'release-unlocked',
  text: `
with free as materialized (
  select receipt_id, account_id from receipts
  where ${idIn('receipt_id', '$1')} and lease_id = $2::uuid and state = 'normalized'
  for update skip locked
), released as (
  update receipts r set lease_id = null, lease_expires_at = null, updated_at = now()
  from free
  where ${idIn('r.receipt_id', '$1')} and r.receipt_id = free.receipt_id and r.account_id = free.account_id
)
select receipt_id from receipts
where ${idIn('receipt_id', '$1')} and lease_id = $2::uuid and state = 'normalized'
  and receipt_id not in (select receipt_id from free)`,
};

/**
 * Releases receipts: any worker can claim them immediately, and no attempt or crash is counted. A null lease is ignored.
 *
 * @returns the receipts that are still under the lease, as another transaction locks them.
 */
export async function releaseLease(
  database: Database,
  receiptIds: readonly string[],
  leaseId: string | null,
): Promise<string[]> {
  if (leaseId === null) return [];
  const values = [ascending(receiptIds), leaseId];
  try {
    await runToEnd(database, RELEASE, [...values, LOCK_WAIT_MS]);
    return [];
  } catch (error) {
    if (!isLockWaitOver(error)) throw error;
    const left = await run<{ receipt_id: string }>(database, RELEASE_UNLOCKED, values);
    return left.map(({ receipt_id }) => receipt_id);
  }
}
