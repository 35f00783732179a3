import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { rememberLowerBound } from '@orders/database/lower-bound.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { cachedRead } from '@orders/runtime/concurrency/timers.ts';
import { metricsOf, type Registry } from '@orders/runtime/observability/metrics.ts';
import type { IntakeConfig } from '../config.ts';
import { type Archiving, type DatabaseUse, readArchiving, readDatabaseUse } from './read-archiving.ts';
import { type Load, readLoad } from './read-load.ts';
import { readStalls, type Stalls } from './read-stalls.ts';

/** One in so many reads of a queue begins at its beginning. */
const READS_PER_FULL = 4;
/** Min time between queries, regardless of how often the metrics are scraped. */
const REFRESH_MS = 5000;
/** Rare because Postgres calls stat on every file of the database to sum up its size. */
const USE_REFRESH_MS = 60_000;
const TIMEOUT_MS = 2000;

/** Help of each gauge by its name and by the value that it shows. */
type Gauges<Values> = Record<string, readonly [value: keyof Values, help: string]>;

const LOAD: Gauges<Load> = {
  orders_receipts_waiting: ['waiting', 'Receipts without a final state, counted to 10,000 batches'],
  orders_receipts_dead: ['dead', 'Receipts that are dead, counted to 10,000'],
  orders_oldest_waiting_seconds: ['oldestSeconds', 'For how long the oldest receipt has been due'],
};

const STALLS: Gauges<Stalls> = {
  orders_dispatch_delay_seconds: [
    'dispatchDelaySeconds',
    'For how long a confirmed order past its undo time has waited to be shown by dispatchable_orders',
  ],
  orders_oldest_cancellation_request_seconds: [
    'oldestCancellationRequestSeconds',
    'Age of the oldest request to cancel a dispatched order that nobody has closed',
  ],
  orders_oldest_unpublished_event_seconds: [
    'oldestUnpublishedEventSeconds',
    'For how long the oldest event that is not published has been due',
  ],
  orders_oldest_undelivered_event_seconds: [
    'oldestUndeliveredEventSeconds',
    'Age of the oldest event that an enabled endpoint, which is not failing, was not tried with',
  ],
  orders_oldest_unchained_audit_event_seconds: [
    'oldestUnchainedAuditEventSeconds',
    'Age of the oldest audit event without a position in the chain',
  ],
  orders_enabled_endpoints: ['enabledEndpoints', 'Endpoints that are enabled'],
  orders_failing_endpoints: ['failingEndpoints', 'Enabled endpoints without a success since an attempt failed'],
};

/** Absent if `archive_mode` is off. */
const ARCHIVING: Gauges<Archiving> = {
  postgres_archive_failing: [
    'isFailing',
    'Whether the last attempt to archive a segment of the write-ahead log failed',
  ],
  postgres_archive_age_seconds: ['ageSeconds', 'Since a segment of the write-ahead log was last archived'],
  postgres_archive_waiting_segments: [
    'waitingSegments',
    'Complete segments of the write-ahead log that are not archived',
  ],
};

const DATABASE_USE: Gauges<DatabaseUse> = {
  postgres_database_bytes: ['bytes', 'Size of the database'],
  postgres_transaction_id_share: [
    'idShare',
    'Share of the transaction ids that Postgres can give before it must freeze old ones; at 1 it accepts no more writes',
  ],
};

const JOB_STATES = ['waiting', 'active', 'delayed'] as const;

type LoadConfig = Pick<IntakeConfig, 'DATABASE_URL' | 'PG_PREPARED'>;

/**
 * Gauges of the whole service's load, by which workers are scaled, and of its Postgres. Every intake exposes them, as there may be no worker
 * running. They use their own connection, so they neither take one from orders nor wait for one.
 */
export function exposeLoad(registry: Registry, config: LoadConfig, producer: Producer): { close(): Promise<void> } {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: 1,
    prepared: config.PG_PREPARED,
    queryTimeout: TIMEOUT_MS,
    applicationName: 'orders load',
  });
  const { gauge, gauges } = metricsOf(registry);

  function cached<Values>(read: () => Promise<Values>, everyMs = REFRESH_MS): () => Promise<Values | null> {
    return cachedRead(read, { everyMs, timeoutMs: TIMEOUT_MS });
  }

  function expose<Values>(shown: Gauges<Values>, read: () => Promise<Values | null>): void {
    for (const [name, [value, help]] of Object.entries(shown))
      gauge(name, help, async () => {
        const found = (await read())?.[value] ?? null;
        return found === null ? null : Number(found);
      });
  }

  const stallsBound = rememberLowerBound(READS_PER_FULL);
  const loadBounds = { due: rememberLowerBound(READS_PER_FULL), batches: rememberLowerBound(READS_PER_FULL) };
  const getStalls = cached(() => readStalls(database, stallsBound));
  const getLanes = cached(() => producer.lanes());
  const jobCount = (state: 'waiting' | 'active') => async () =>
    (await getLanes())?.reduce((sum, lane) => sum + lane[state], 0) ?? null;

  expose(
    LOAD,
    cached(() => readLoad(database, loadBounds)),
  );
  expose(STALLS, getStalls);
  expose(
    ARCHIVING,
    cached(() => readArchiving(database)),
  );
  expose(
    DATABASE_USE,
    cached(() => readDatabaseUse(database), USE_REFRESH_MS),
  );
  gauge('orders_jobs_waiting', 'Jobs that wait in the queue, of all lanes', jobCount('waiting'));
  gauge('orders_jobs_active', 'Jobs that workers have taken, of all lanes', jobCount('active'));
  gauges('orders_lane_jobs', 'Jobs in the queue by lane and state', ['lane', 'state'], async () => {
    const lanes = (await getLanes()) ?? [];
    return lanes.flatMap(({ lane, ...jobs }) => JOB_STATES.map((state) => [{ lane, state }, jobs[state]] as const));
  });
  // Absent if the role lacks `pg_read_all_stats`.
  gauges(
    'postgres_oldest_transaction_seconds',
    'Age of the oldest transaction of any session, by whether it has written',
    ['kind'],
    async () => {
      const stalls = await getStalls();
      const ages = { writing: stalls?.oldestWritingSeconds, reading: stalls?.oldestReadingSeconds };
      return Object.entries(ages).flatMap(([kind, age]) => (age == null ? [] : [[{ kind }, age] as const]));
    },
  );

  return { close: () => closeDatabase(database) };
}
