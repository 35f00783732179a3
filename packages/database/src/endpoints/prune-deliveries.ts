import type { Knex } from 'knex';
import type { EndpointKey } from './endpoints.ts';

/** Rows per statement, so that no statement takes long, whatever has accumulated. */
const CHUNK_SIZE = 10_000;

/** Repeats a statement that removes up to `CHUNK_SIZE` rows until it removes fewer. */
async function removeChunks(stopping: AbortSignal, removeChunk: () => Promise<{ rowCount: number }>): Promise<number> {
  let removed = 0;
  for (let count = CHUNK_SIZE; count === CHUNK_SIZE && !stopping.aborted; removed += count)
    count = (await removeChunk()).rowCount;
  return removed;
}

/**
 * Removes attempts older than `keptMs` milliseconds, and all but the newest `kept` of each endpoint.
 *
 * @param stopping ends it between two chunks.
 * @returns the number of removed rows.
 */
export async function pruneAttempts(db: Knex, keptMs: number, kept: number, stopping: AbortSignal): Promise<number> {
  const endpoints: EndpointKey[] = await db('endpoints').select('account_id', 'endpoint_number');
  let removed = 0;
  for (const endpoint of endpoints) {
    removed += await removeChunks(stopping, () =>
      db.raw(
        `delete from delivery_attempts
         where account_id = :account_id and endpoint_number = :endpoint_number and attempt_number = any(array(
           select attempt_number from (
             select attempt_number, at from delivery_attempts
             where account_id = :account_id and endpoint_number = :endpoint_number
             order by attempt_number limit ${CHUNK_SIZE}
           ) as oldest
           where at < now() - :keptMs * interval '1 ms' or attempt_number <= (
             select attempt_number from delivery_attempts
             where account_id = :account_id and endpoint_number = :endpoint_number
             order by attempt_number desc offset :kept limit 1
           )
         ))`,
        { account_id: endpoint.account_id, endpoint_number: endpoint.endpoint_number, keptMs, kept },
      ),
    );
  }
  return removed;
}

/**
 * Removes what removed endpoints left behind: their attempts, and what waited for them.
 *
 * @param stopping ends it between two chunks.
 * @returns the number of removed rows.
 */
export async function removeOrphanedDeliveries(db: Knex, stopping: AbortSignal): Promise<number> {
  let removed = 0;
  for (const [table, key] of [
    ['waiting_deliveries', 'sequence'],
    ['delivery_attempts', 'attempt_number'],
  ] as const) {
    removed += await removeChunks(stopping, () =>
      db.raw(
        `delete from ${table} where (account_id, endpoint_number, ${key}) in (
           select account_id, endpoint_number, ${key} from ${table} d
           where not exists (select from endpoints e where e.account_id = d.account_id and e.endpoint_number = d.endpoint_number)
           limit ${CHUNK_SIZE}
         )`,
      ),
    );
  }
  return removed;
}
