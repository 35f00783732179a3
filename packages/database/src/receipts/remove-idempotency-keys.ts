import type { Knex } from 'knex';

/** Keys removed in one transaction. */
const PORTION = 5000;

// The order and the lower bound keep each portion from reading again, in the index, what the one before has removed.
const REMOVE = `
with old as materialized (
  select ctid, created_at from idempotency_keys
  where created_at >= ? and created_at < ?
  order by created_at limit ${PORTION} for update skip locked
), removed as (
  delete from idempotency_keys where ctid = any(array(select ctid from old))
)
select count(*) as count, max(created_at)::text as newest from old`;

/**
 * Removes the idempotency keys that are older than `ttlMs` milliseconds when it is called, 5,000 in each transaction. Those that reach that
 * age meanwhile are left to the next call, so it ends at any rate.
 *
 * @param signal ends it between two portions.
 * @returns how many.
 */
export async function removeOldIdempotencyKeys(knex: Knex, ttlMs: number, signal?: AbortSignal): Promise<number> {
  const { rows: clock } = await knex.raw<{ rows: { cutoff: string }[] }>(
    "select (now() - ? * interval '1 ms')::text as cutoff",
    [ttlMs],
  );
  const cutoff = clock[0]?.cutoff as string;
  let removed = 0;
  for (let from = '-infinity', count = PORTION; count === PORTION && !signal?.aborted; ) {
    const portion = await removePortion(knex, from, cutoff);
    count = portion.count;
    from = portion.newest ?? from;
    removed += count;
  }
  return removed;
}

interface Portion {
  count: number;
  /** The time of the newest key removed; null when there was none. */
  newest: string | null;
}

async function removePortion(knex: Knex, from: string, cutoff: string): Promise<Portion> {
  return knex.transaction(async (trx) => {
    // By the order of the index it stops at the end of the portion; where the statistics are old, a scan and a sort may look cheaper.
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_seqscan = off');
    const { rows } = await trx.raw<{ rows: [Portion] }>(REMOVE, [from, cutoff]);
    return rows[0];
  });
}
