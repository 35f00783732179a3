import type { Knex } from 'knex';
import { timeOf } from './partitions.ts';

/** When the oldest batch with a pending receipt was accepted, by the time in its id (UUIDv7); null when all receipts are final. */
export async function findOldestPending(db: Knex): Promise<Date | null> {
  const [row] = await db('outbox').orderBy('batch_id').limit(1).select('batch_id');
  return row ? new Date(timeOf(row.batch_id)) : null;
}
