import type { Knex } from 'knex';

/** When the oldest batch with a receipt that is not final was accepted, by the time in its id (UUIDv7); null when all are final. */
export async function findOldestPending(db: Knex): Promise<Date | null> {
  const [row] = await db('outbox').orderBy('batch_id').limit(1).select('batch_id');
  if (!row) return null;
  return new Date(Number.parseInt(String(row.batch_id).replace('-', '').slice(0, 12), 16));
}
