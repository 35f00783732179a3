import type { Database } from '@orders/database/connect.ts';
import { inTransaction, removeChunks, run } from '@orders/database/run.ts';

/** Keys removed per transaction. */
const CHUNK_SIZE = 5000;

// The order and the lower bound keep a chunk from reading index entries that the previous chunk removed.
const REMOVE = `
with old as materialized (
  select ctid, created_at from idempotency_keys
  where created_at >= $1::timestamptz and created_at < $2::timestamptz
  order by created_at limit ${CHUNK_SIZE} for update skip locked
), removed as (
  delete from idempotency_keys where ctid = any(array(select ctid from old))
)
select count(*) as count, max(created_at)::text as newest from old`;

/**
 * Removes the idempotency keys that are older than `ttlMs` milliseconds at the time of the call, 5,000 per transaction.
 *
 * @param signal stops it between two chunks.
 * @returns the number of removed keys.
 */
export async function removeOldIdempotencyKeys(
  database: Database,
  ttlMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const [clock] = await run<{ cutoff: string }>(database, "select (now() - $1 * interval '1 ms')::text as cutoff", [
    ttlMs,
  ]);
  const cutoff = clock?.cutoff as string;
  let from = '-infinity';
  const removeNext = async () => {
    const { count, newest } = await removeChunk(database, from, cutoff);
    from = newest ?? from;
    return count;
  };
  return removeChunks(CHUNK_SIZE, removeNext, signal);
}

interface RemovedChunk {
  count: number;
  /** Time of the newest removed key; null when there was none. */
  newest: string | null;
}

function removeChunk(database: Database, from: string, cutoff: string): Promise<RemovedChunk> {
  return inTransaction(
    database,
    async (transaction) => (await run<RemovedChunk>(transaction, REMOVE, [from, cutoff]))[0] as RemovedChunk,
    // In index order it stops at the end of the chunk. With outdated statistics, the planner may prefer a scan and a sort.
    { enable_sort: 'off', enable_seqscan: 'off' },
  );
}
