import type { Database } from '@orders/database/connect.ts';
import type { EndpointKey } from '@orders/database/endpoints/endpoints.ts';
import { execute, removeChunks, run } from '@orders/database/run.ts';

/** Rows per statement. */
const CHUNK_SIZE = 10_000;

/**
 * Removes attempts older than `maxAgeMs` milliseconds, and all but the newest `maxPerEndpoint` of each endpoint.
 *
 * @param stopping ends it between two chunks.
 * @returns the number of removed rows.
 */
export async function pruneAttempts(
  database: Database,
  maxAgeMs: number,
  maxPerEndpoint: number,
  stopping: AbortSignal,
): Promise<number> {
  const endpoints = await run<EndpointKey>(database, 'select account_id, endpoint_number from endpoints');
  let removed = 0;
  for (const { account_id, endpoint_number } of endpoints) {
    const removeChunk = () =>
      execute(
        database,
        `delete from delivery_attempts
         where account_id = $1 and endpoint_number = $2 and attempt_number = any(array(
           select attempt_number from (
             select attempt_number, at from delivery_attempts
             where account_id = $1 and endpoint_number = $2
             order by attempt_number limit ${CHUNK_SIZE}
           ) as oldest
           where at < now() - $3 * interval '1 ms' or attempt_number <= (
             select attempt_number from delivery_attempts
             where account_id = $1 and endpoint_number = $2
             order by attempt_number desc offset $4 limit 1
           )
         ))`,
        [account_id, endpoint_number, maxAgeMs, maxPerEndpoint],
      );
    removed += await removeChunks(CHUNK_SIZE, removeChunk, stopping);
  }
  return removed;
}

/**
 * Deletes waiting deliveries and attempts of endpoints that no longer exist.
 *
 * @param stopping ends it between two chunks.
 * @returns the number of removed rows.
 */
export async function removeOrphanedDeliveries(database: Database, stopping: AbortSignal): Promise<number> {
  let removed = 0;
  for (const [table, key] of [
    ['waiting_deliveries', 'sequence'],
    ['delivery_attempts', 'attempt_number'],
  ] as const) {
    // Reads one row of each endpoint.
    const orphaned = await run<EndpointKey>(
      database,
      `with recursive present as (
         (select account_id, endpoint_number from ${table} order by account_id, endpoint_number limit 1)
         union all
         select next.* from present p cross join lateral (
           select account_id, endpoint_number from ${table}
           where (account_id, endpoint_number) > (p.account_id, p.endpoint_number)
           order by account_id, endpoint_number limit 1
         ) as next
       )
       select account_id, endpoint_number from present p
       where not exists (select from endpoints e where e.account_id = p.account_id and e.endpoint_number = p.endpoint_number)
         and not exists (select from accounts a where a.account_id = p.account_id and a.moving_since is not null)`,
    );
    for (const { account_id, endpoint_number } of orphaned) {
      const removeChunk = () =>
        execute(
          database,
          `delete from ${table}
           where account_id = $1 and endpoint_number = $2 and ${key} = any(array(
             select ${key} from ${table} where account_id = $1 and endpoint_number = $2
             order by ${key} limit ${CHUNK_SIZE}
           ))`,
          [account_id, endpoint_number],
        );
      removed += await removeChunks(CHUNK_SIZE, removeChunk, stopping);
    }
  }
  return removed;
}
