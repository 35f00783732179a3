import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import type { LaneState } from '@orders/queue/queue-stats.ts';
import { cachedRead } from '@orders/runtime/concurrency/cached-read.ts';
import { Gauge, type Registry } from '@orders/runtime/observability/metrics.ts';
import type { IntakeConfig } from '../config.ts';
import { exposeGauge } from './metrics.ts';
import { type Archiving, readArchiving, readDatabaseUse } from './read-archiving.ts';
import { type Load, readLoad } from './read-load.ts';
import { readStalls, type Stalls } from './read-stalls.ts';

/** Rare because Postgres calls stat on every file of the database to sum up its size. */
const USE_REFRESH_MS = 60_000;

/**
 * Gauges of the database's size and transaction ids, and of WAL archiving. Those of archiving are absent if `archive_mode` is off.
 */
function exposeArchiving(
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

/** Min time between queries, regardless of how often the metrics are scraped. */
const REFRESH_MS = 5000;
const TIMEOUT_MS = 2000;

type LoadConfig = Pick<IntakeConfig, 'DATABASE_URL' | 'PG_PREPARED'>;

/**
 * Gauges of the whole service's load, by which workers are scaled. Every intake exposes them, as there may be no worker running. They use
 * their own connection, so they neither take one from orders nor wait for one.
 */
export function exposeLoad(registry: Registry, config: LoadConfig, producer: Producer): { close(): Promise<void> } {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: 1,
    prepared: config.PG_PREPARED,
    queryTimeout: TIMEOUT_MS,
    applicationName: 'orders load',
  });
  const times = { everyMs: REFRESH_MS, timeoutMs: TIMEOUT_MS };
  const getLoad = cachedRead(() => readLoad(database), times);
  const getStalls = cachedRead(() => readStalls(database), times);
  const getLanes = cachedRead(() => producer.lanes(), times);

  const gauge = exposeGauge.bind(null, registry);
  const loadValue = (name: keyof Load) => async () => (await getLoad())?.[name] ?? null;
  const stallValue = (name: keyof Stalls) => async () => (await getStalls())?.[name] ?? null;
  const jobCount = (state: 'waiting' | 'active') => async () =>
    (await getLanes())?.reduce((sum, lane) => sum + lane[state], 0) ?? null;

  gauge('orders_receipts_waiting', 'Receipts without a final state, counted to 10,000 batches', loadValue('waiting'));
  gauge('orders_receipts_dead', 'Receipts that are dead, counted to 10,000', loadValue('dead'));
  gauge('orders_oldest_waiting_seconds', 'For how long the oldest receipt has been due', loadValue('oldestSeconds'));
  gauge('orders_jobs_waiting', 'Jobs that wait in the queue, of all lanes', jobCount('waiting'));
  gauge('orders_jobs_active', 'Jobs that workers have taken, of all lanes', jobCount('active'));
  gauge(
    'orders_dispatch_delay_seconds',
    'For how long a confirmed order past its undo time has waited to be shown by dispatchable_orders',
    stallValue('dispatchDelaySeconds'),
  );
  gauge(
    'orders_oldest_cancellation_request_seconds',
    'Age of the oldest request to cancel a dispatched order that nobody has closed',
    stallValue('oldestCancellationRequestSeconds'),
  );
  gauge(
    'orders_oldest_unpublished_event_seconds',
    'For how long the oldest event that is not published has been due',
    stallValue('oldestUnpublishedEventSeconds'),
  );
  gauge(
    'orders_oldest_undelivered_event_seconds',
    'Age of the oldest event that an enabled endpoint, which is not failing, was not tried with',
    stallValue('oldestUndeliveredEventSeconds'),
  );
  gauge(
    'orders_oldest_unchained_audit_event_seconds',
    'Age of the oldest audit event without a position in the chain',
    stallValue('oldestUnchainedAuditEventSeconds'),
  );
  gauge('orders_enabled_endpoints', 'Endpoints that are enabled', stallValue('enabledEndpoints'));
  gauge(
    'orders_failing_endpoints',
    'Enabled endpoints without a success since an attempt failed',
    stallValue('failingEndpoints'),
  );
  exposeTransactions(registry, getStalls);
  exposeLanes(registry, getLanes);
  exposeArchiving(registry, database, times);

  return { close: () => closeDatabase(database) };
}

/** Absent if the role lacks `pg_read_all_stats`. */
function exposeTransactions(registry: Registry, get: () => Promise<Stalls | null>): void {
  new Gauge({
    name: 'postgres_oldest_transaction_seconds',
    help: 'Age of the oldest transaction of any session, by whether it has written',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const stalls = await get();
      this.reset();
      const ages = { writing: stalls?.oldestWritingSeconds, reading: stalls?.oldestReadingSeconds };
      for (const [kind, age] of Object.entries(ages)) if (age != null) this.set({ kind }, age);
    },
  });
}

const STATES = ['waiting', 'active', 'delayed'] as const;

function exposeLanes(registry: Registry, get: () => Promise<LaneState[] | null>): void {
  new Gauge({
    name: 'orders_lane_jobs',
    help: 'Jobs in the queue by lane and state',
    labelNames: ['lane', 'state'],
    registers: [registry],
    async collect() {
      const lanes = await get();
      this.reset();
      for (const { lane, ...jobs } of lanes ?? []) {
        for (const state of STATES) this.set({ lane, state }, jobs[state]);
      }
    },
  });
}
