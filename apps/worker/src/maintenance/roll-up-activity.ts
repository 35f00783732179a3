import { BUCKET_MS, bucketOf, latencySlot } from '@orders/database/activity/buckets.ts';
import type { Database } from '@orders/database/connect.ts';
import { firstUuidAt, timeOf } from '@orders/database/receipts/uuids.ts';
import { ACTIVITY_LOCK, execute, inTransaction, run } from '@orders/database/run.ts';
import { FINAL_STATES } from '@orders/domain/receipt-states.ts';

/** After its end a bucket can still get receipts for this long, by slow commits or a slow clock of an intake. */
const SETTLES_AFTER_MS = 180_000;
/** Max unsettled buckets recomputed per run, and the time after which a run starts no more buckets. */
const MAX_UNSETTLED = 12;
const MAX_RUN_MS = 3000;
const MAX_IDLE_MS = 60_000;
/** Max warnings counted per receipt; it can have a thousand, with pointers chosen by its sender. */
const WARNINGS_COUNTED = 50;
/** Kinds of warnings kept per account and bucket, the most frequent ones. */
const WARNING_KINDS = 50;

const FINAL = FINAL_STATES.map((state) => `'${state}'`).join(', ');

// Reads the receipts twice, as materializing three million of them takes longer. Writes one row per account.
const COMPUTE = `
with grouped as (
  select account_id, state,
         case when state = 'written' then ${latencySlot("date_part('epoch', updated_at - received_at) * 1000")} end as slot,
         count(*)::int as n
  from receipts
  where receipt_id >= $1::uuid and receipt_id < $2::uuid
  group by 1, 2, 3
), counted as (
  select account_id, sum(n) as accepted, coalesce(sum(n) filter (where state = 'written'), 0) as written,
         coalesce(sum(n) filter (where state = 'duplicate'), 0) as duplicate,
         coalesce(sum(n) filter (where state = 'failed'), 0) as failed,
         coalesce(sum(n) filter (where state = 'dead'), 0) as dead,
         coalesce(array_agg(slot order by slot) filter (where slot is not null), '{}') as slots,
         coalesce(array_agg(n order by slot) filter (where slot is not null), '{}') as counts,
         bool_and(state in (${FINAL})) as is_final
  from grouped group by account_id
), warned as (
  select r.account_id, w.code, w.pointer, count(*) as n
  from receipts r cross join lateral jsonb_to_recordset(jsonb_path_query_array(r.warnings, '$[0 to ${WARNINGS_COUNTED - 1}]')) as w(code text, pointer text)
  where r.receipt_id >= $1::uuid and r.receipt_id < $2::uuid and r.state = 'written' and r.warnings is not null
  group by 1, 2, 3
), kinds as (
  select account_id, code || ' ' || left(regexp_replace(pointer, '/\\d+(?=/|$)', '/*', 'g'), 200) as kind, sum(n) as n,
         row_number() over (partition by account_id order by sum(n) desc) as rank
  from warned group by 1, 2
), listed as (
  select account_id, jsonb_object_agg(kind, n) as warnings from kinds where rank <= ${WARNING_KINDS} group by 1
)
insert into activity as a (account_id, bucket_start, accepted, written, duplicate, failed, dead, latency_slots, latency_counts, warnings,
                           computed_at, settled, reopened)
select c.account_id, $3::timestamptz, c.accepted, c.written, c.duplicate, c.failed, c.dead, c.slots, c.counts, coalesce(l.warnings, '{}'),
       now(), c.is_final and $4::boolean, coalesce(before.reopened, 0)
from counted c
left join listed l on l.account_id = c.account_id
left join activity before on before.account_id = c.account_id and before.bucket_start = $3::timestamptz
order by c.account_id
on conflict (account_id, bucket_start) do update
set accepted = excluded.accepted, written = excluded.written, duplicate = excluded.duplicate, failed = excluded.failed,
    dead = excluded.dead, latency_slots = excluded.latency_slots, latency_counts = excluded.latency_counts,
    warnings = excluded.warnings, computed_at = excluded.computed_at,
    -- Receipts redriven since this statement began are not in its snapshot.
    settled = excluded.settled and a.reopened = excluded.reopened`;

/**
 * Updates the activity: computes the current buckets, unsettled buckets and buckets that were never computed, within the time of a run. A
 * bucket is settled when it ended some time ago and all its receipts are final; a redrive reopens it. One worker does it at a time.
 *
 * @param minIntervalMs if any worker has run it within this time, nothing is done.
 * @returns the number of computed buckets.
 */
export async function rollUpActivity(database: Database, minIntervalMs = 0): Promise<number> {
  // The lock's transaction does nothing else, so it does not delay vacuum.
  return inTransaction(
    database,
    async (guard) => {
      const [lock] = await run<{ locked: boolean; now: Date }>(
        guard,
        'select pg_try_advisory_xact_lock($1) as locked, now() as now',
        [ACTIVITY_LOCK],
      );
      const [clock] = await run<{ as_of: Date | null; computed_to: Date }>(
        database,
        'select as_of, computed_to from activity_clock',
      );
      if (!lock?.locked || !clock) return 0;
      const isDue = clock.as_of === null || lock.now.getTime() - clock.as_of.getTime() >= minIntervalMs;
      return isDue ? computeBuckets(database, lock.now, clock.computed_to.getTime()) : 0;
    },
    // The transaction is idle while the buckets are computed.
    { idle_in_transaction_session_timeout: MAX_IDLE_MS },
  );
}

async function computeBuckets(database: Database, now: Date, computedTo: number): Promise<number> {
  const startedAt = performance.now();
  const hasTime = () => performance.now() - startedAt < MAX_RUN_MS;
  const settledTo = now.getTime() - SETTLES_AFTER_MS;
  const recent = [...new Set([bucketOf(settledTo), bucketOf(now.getTime())])];
  let [computed, failure]: [number, unknown] = [0, null];
  // A bucket that fails does not block the others.
  const attempt = async (start: number) => {
    computed += 1;
    await compute(database, start, settledTo).catch((error: unknown) => (failure ??= error));
  };
  for (const start of recent) await attempt(start);

  for (const start of await findUnsettled(database, recent)) {
    if (!hasTime()) break;
    await attempt(start);
  }

  // Buckets that were not computed because no worker ran.
  const [caughtUp] = recent as [number];
  let next: number | null = computedTo;
  while (next !== null && next < caughtUp && hasTime()) {
    next = await findBucketFrom(database, next);
    if (next === null || next >= caughtUp) break;
    await attempt(next);
    next += BUCKET_MS;
  }
  await execute(database, 'update activity_clock set as_of = $1, computed_to = $2', [
    now,
    new Date(Math.min(next ?? caughtUp, caughtUp)),
  ]);
  if (failure !== null) throw failure;
  return computed;
}

async function compute(database: Database, start: number, settledTo: number): Promise<void> {
  const end = start + BUCKET_MS;
  await execute(database, COMPUTE, [firstUuidAt(start), firstUuidAt(end), new Date(start), end <= settledTo]);
}

/** Least recently computed first, so that none starves. */
async function findUnsettled(database: Database, except: readonly number[]): Promise<number[]> {
  const rows = await run<{ bucket_start: Date }>(
    database,
    `select bucket_start from activity where not settled and bucket_start <> all($1::timestamptz[])
     group by bucket_start order by min(computed_at) nulls first limit ${MAX_UNSETTLED}`,
    [except.map((start) => new Date(start))],
  );
  return rows.map((row) => row.bucket_start.getTime());
}

/** The first bucket from `start` on that has a receipt; null when there is none. */
async function findBucketFrom(database: Database, start: number): Promise<number | null> {
  const [first] = await run<{ receipt_id: string }>(
    database,
    'select receipt_id from receipts where receipt_id >= $1 order by receipt_id limit 1',
    [firstUuidAt(start)],
  );
  return first ? bucketOf(timeOf(first.receipt_id)) : null;
}
