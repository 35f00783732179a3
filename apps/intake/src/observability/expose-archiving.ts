import type { Database } from '@orders/database/connect.ts';
import { type Archiving, readArchiving, readDatabaseUse } from './read-archiving.ts';
import { cachedRead } from '@orders/runtime/concurrency/cached-read.ts';
import type { Registry } from '@orders/runtime/observability/metrics.ts';
import { exposeGauge } from './expose-gauge.ts';

/** Rare because Postgres calls stat on every file of the database to sum up its size. */
const USE_REFRESH_MS = 60_000;

/**
 * Gauges of the database's size and transaction ids, and of WAL archiving. Those of archiving are absent if `archive_mode` is off.
 */
export function exposeArchiving(
  registry: Registry,
  database: Database,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): void {
  const getArchiving = cachedRead(() => readArchiving(database), { everyMs, timeoutMs });
  const getUse = cachedRead(() => readDatabaseUse(database), { everyMs: USE_REFRESH_MS, timeoutMs });
  const gauge = exposeGauge.bind(null, registry);
  const archivingValue = (read: (archiving: Archiving) => number | null) => async () => {
    const archiving = await getArchiving();
    return archiving && read(archiving);
  };

  gauge(
    'postgres_archive_failing',
    'Whether the last attempt to archive a segment of the write-ahead log failed',
    archivingValue(({ isFailing }) => Number(isFailing)),
  );
  gauge(
    'postgres_archive_age_seconds',
    'Since a segment of the write-ahead log was last archived',
    archivingValue(({ ageSeconds }) => ageSeconds),
  );
  gauge(
    'postgres_archive_waiting_segments',
    'Complete segments of the write-ahead log that are not archived',
    archivingValue(({ waitingSegments }) => waitingSegments),
  );
  gauge('postgres_database_bytes', 'Size of the database', async () => (await getUse())?.bytes ?? null);
  gauge(
    'postgres_transaction_id_share',
    'Share of the transaction ids that Postgres can give before it must freeze old ones; at 1 it accepts no more writes',
    async () => (await getUse())?.idShare ?? null,
  );
}
