import { removeChunks } from '@orders/database/run.ts';
import type { Knex } from 'knex';

/** Keys removed per transaction. */
const CHUNK_SIZE = 5000;

// The order and the lower bound keep a chunk from reading index entries that the previous chunk removed.
const REMOVE = `
with old as materialized (
  select ctid, created_at from idempotency_keys
  where created_at >= ? and created_at < ?
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
export async function removeOldIdempotencyKeys(knex: Knex, ttlMs: number, signal?: AbortSignal): Promise<number> {
  const { rows: clock } = await knex.raw<{ rows: { cutoff: string }[] }>(
    "select (now() - ? * interval '1 ms')::text as cutoff",
    [ttlMs],
  );
  const cutoff = clock[0]?.cutoff as string;
  let from = '-infinity';
  const removeNext = async () => {
    const { count, newest } = await removeChunk(knex, from, cutoff);
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

async function removeChunk(knex: Knex, from: string, cutoff: string): Promise<RemovedChunk> {
  return knex.transaction(async (trx) => {
    // In index order it stops at the end of the chunk. With outdated statistics, the planner may prefer a scan and a sort.
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_seqscan = off');
    const { rows } = await trx.raw<{ rows: [RemovedChunk] }>(REMOVE, [from, cutoff]);
    return rows[0];
  });
}
