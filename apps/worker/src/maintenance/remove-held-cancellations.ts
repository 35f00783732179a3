import type { Knex } from 'knex';
import { removeChunks } from '@orders/database/remove-chunks.ts';

/** Rows removed per transaction. */
const CHUNK_SIZE = 1000;

/**
 * Removes the cancellations that have been held for `retentionMs` milliseconds, 1,000 per transaction. An order that arrives later is written
 * like any other.
 *
 * @param signal stops it between two chunks.
 */
export async function removeHeldCancellations(knex: Knex, retentionMs: number, signal?: AbortSignal): Promise<void> {
  const removeChunk = async () => {
    const { rows } = await knex.raw<{ rows: [{ removed: number }] }>(
      "select remove_held_cancellations(now() - ? * interval '1 ms', ?) as removed",
      [retentionMs, CHUNK_SIZE],
    );
    return rows[0].removed;
  };
  await removeChunks(CHUNK_SIZE, removeChunk, signal);
}
