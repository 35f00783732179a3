import { type Archiving, type Database, readArchiving, readDatabaseSize } from '@orders/database';
import { cachedRead, Gauge, type Registry } from '@orders/runtime';

/** Postgres stats every file of the database to add up its size. */
const SIZE_EVERY_MS = 60_000;

/**
 * Shows how large the database is and how the archive of its write-ahead log keeps up. What cannot be read is absent, and the archive's
 * figures are absent where `archive_mode` is off.
 */
export function exposeArchiving(
  registry: Registry,
  database: Database,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): void {
  const askArchiving = cachedRead(() => readArchiving(database), { everyMs, timeoutMs });
  const askSize = cachedRead(() => readDatabaseSize(database), { everyMs: SIZE_EVERY_MS, timeoutMs });
  const gauge = (name: string, help: string, read: () => Promise<number | null>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  const ofArchive = (figure: (archiving: Archiving) => number | null) => async () => {
    const archiving = await askArchiving();
    return archiving && figure(archiving);
  };

  gauge(
    'postgres_archive_failing',
    'Whether the last attempt to archive a segment of the write-ahead log failed',
    ofArchive(({ isFailing }) => Number(isFailing)),
  );
  gauge(
    'postgres_archive_age_seconds',
    'Since a segment of the write-ahead log was last archived',
    ofArchive(({ ageSeconds }) => ageSeconds),
  );
  gauge(
    'postgres_archive_waiting_segments',
    'Complete segments of the write-ahead log that are not archived',
    ofArchive(({ waitingSegments }) => waitingSegments),
  );
  gauge('postgres_database_bytes', 'Size of the database', askSize);
}
