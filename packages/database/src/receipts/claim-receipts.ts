import type { ReceiptState } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { among, ascending } from './among.ts';

/** A receipt held under a lease, with the body to work on. */
export interface ClaimedReceipt {
  receiptId: string;
  accountId: number;
  /** Null when it is not there any more, which nothing of ours brings about. */
  body: Buffer | null;
  /** Attempts that failed before this one. */
  attempts: number;
}

/** A row of `claimed`, and where its body is: so many bytes of the bodies of its account in its batch. */
interface ClaimedRow {
  receiptId: string;
  accountId: number;
  attempts: number;
  state: ReceiptState;
  batchId: string;
  /** Counts from 1. */
  bodyStart: number;
  bodyLength: number;
}

const SELECT_CLAIMED = `
select receipt_id as "receiptId", account_id as "accountId", attempts, state, batch_id as "batchId", body_start as "bodyStart",
       body_length as "bodyLength"
from claimed
order by received_at, batch_id, body_start`;

const READ_BODIES = {
  name: 'read-bodies',
  // By itself, for the partitions of a look-up beside others are picked while it runs, and Postgres 18 crashes where a statement that does
  // so meets a row that somebody else is changing.
  text: `
select p.batch_id as "batchId", p.account_id as "accountId", p.bodies
from receipt_payloads p
join unnest($1::uuid[], $2::int[]) as wanted(batch_id, account_id) on wanted.batch_id = p.batch_id and wanted.account_id = p.account_id
where ${among('p.batch_id', '$1')}`,
};

async function withBodies(database: Database, rows: readonly ClaimedRow[]): Promise<ClaimedReceipt[]> {
  if (rows.length === 0) return [];
  const keyOf = ({ batchId, accountId }: Pick<ClaimedRow, 'batchId' | 'accountId'>) => `${batchId} ${accountId}`;
  const wanted = [...new Map(rows.map((row) => [keyOf(row), row])).values()].toSorted((a, b) =>
    a.batchId < b.batchId ? -1 : 1,
  );
  const found = await run<{ batchId: string; accountId: number; bodies: Buffer }>(database, READ_BODIES, [
    wanted.map(({ batchId }) => batchId),
    wanted.map(({ accountId }) => accountId),
  ]);
  const bodies = new Map(found.map((row) => [keyOf(row), row.bodies]));
  return rows.map((row) => {
    const start = row.bodyStart - 1;
    const body = bodies.get(keyOf(row))?.subarray(start, start + row.bodyLength) ?? null;
    return { receiptId: row.receiptId, accountId: row.accountId, attempts: row.attempts, body };
  });
}

// Free to be taken: new, due again, or given back by a worker that met an outage.
const FREE = `(state = 'received' or (state = 'failed' and next_attempt_at <= now()) or (state = 'normalized' and lease_id is null))`;
const LAPSED = `(state = 'normalized' and lease_id is not null and lease_expires_at < now())`;

const CLAIM = {
  name: 'claim-receipts',
  // SKIP LOCKED: whoever holds a row is taking it or writing it; waiting for them could deadlock. The commit need not be flushed: if
  // Postgres forgets a claim in a crash, the receipts are free again and the write under its lease finds nothing.
  text: `
with unflushed as materialized (
  select set_config('synchronous_commit', 'off', true)
), free as materialized (
  select receipt_id, account_id from receipts
  where ${among('receipt_id', '$1')} and not runs_alone and ${FREE} and exists (select from unflushed)
  for update skip locked
), claimed as (
  update receipts r
  set state = 'normalized', lease_id = $2::uuid, lease_expires_at = now() + $3::int * interval '1 ms',
      normalized_at = now(), updated_at = now(), next_attempt_at = null
  from free
  where ${among('r.receipt_id', '$1')} and r.receipt_id = free.receipt_id and r.account_id = free.account_id
  returning r.*
)
${SELECT_CLAIMED}`,
};

/**
 * Takes those of the receipts that are free under one lease, in the order in which they were received.
 *
 * @param leaseMs how long the lease lasts, in milliseconds.
 */
export async function claimReceipts(
  database: Database,
  receiptIds: readonly string[],
  leaseId: string,
  leaseMs: number,
): Promise<ClaimedReceipt[]> {
  return withBodies(database, await run<ClaimedRow>(database, CLAIM, [ascending(receiptIds), leaseId, leaseMs]));
}

const FIND_SUSPECTS = {
  name: 'find-suspects',
  text: `select receipt_id from receipts where ${among('receipt_id', '$1')} and (${LAPSED} or (runs_alone and ${FREE})) order by 1`,
};

/** Those of the receipts whose worker died, now or in an earlier attempt: they must run alone. */
export async function findSuspects(database: Database, receiptIds: readonly string[]): Promise<string[]> {
  const rows = await run<{ receipt_id: string }>(database, FIND_SUSPECTS, [ascending(receiptIds)]);
  return rows.map((row) => row.receipt_id);
}

const CLAIM_ALONE = {
  name: 'claim-alone',
  text: `
with suspect as materialized (
  select receipt_id, account_id, ${LAPSED} as lapsed, crashes + (${LAPSED} and runs_alone)::int as crashes
  from receipts
  where receipt_id = $1::uuid and (${LAPSED} or (runs_alone and ${FREE}))
  for update skip locked
), claimed as (
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
${SELECT_CLAIMED}`,
};

/**
 * Takes one receipt whose worker died under a lease of its own.
 *
 * @param maxCrashes after so many crashes alone it ends `dead`, `worker_crashed`, instead.
 * @returns `dead` if that is how it just ended, null if it is not to be had.
 */
export async function claimAlone(
  database: Database,
  receiptId: string,
  leaseId: string,
  leaseMs: number,
  maxCrashes: number,
): Promise<ClaimedReceipt | 'dead' | null> {
  const values = [receiptId, leaseId, leaseMs, maxCrashes];
  const rows = await run<ClaimedRow>(database, CLAIM_ALONE, values);
  if (rows[0]?.state === 'dead') return 'dead';
  const [claimed] = await withBodies(database, rows);
  return claimed ?? null;
}

const RELEASE = {
  name: 'release-lease',
  text: `
update receipts set lease_id = null, lease_expires_at = null, updated_at = now()
where ${among('receipt_id', '$1')} and lease_id = $2::uuid and state = 'normalized'`,
};

/** Gives receipts back unharmed: the next to come takes them at once, and no attempt and no crash is counted. */
export async function releaseLease(database: Database, receiptIds: readonly string[], leaseId: string): Promise<void> {
  await run(database, RELEASE, [ascending(receiptIds), leaseId]);
}
