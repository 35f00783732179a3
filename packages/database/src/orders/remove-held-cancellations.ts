import type { Knex } from 'knex';

/** Rows removed per transaction. */
const CHUNK_SIZE = 1000;

/**
 * Removes the cancellations that have been held for `retentionMs` milliseconds, 1,000 per transaction. An order that arrives later is written
 * like any other.
 *
 * @param signal stops it between two chunks.
 */
export async function removeHeldCancellations(knex: Knex, retentionMs: number, signal?: AbortSignal): Promise<void> {
  for (let count = CHUNK_SIZE; count === CHUNK_SIZE && !signal?.aborted; ) {
    const { rows } = await knex.raw<{ rows: [{ removed: number }] }>(
      "select remove_held_cancellations(now() - ? * interval '1 ms', ?) as removed",
      [retentionMs, CHUNK_SIZE],
    );
    count = rows[0].removed;
  }
}
