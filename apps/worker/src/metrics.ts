import { Counter, createRegistry, Gauge, Histogram, type Registry } from '@orders/runtime';

/** The steps of maintenance, by which their failures are counted. */
export const MAINTENANCE_STEPS = [
  'make_partitions',
  'drop_partitions',
  'remove_leftovers',
  'count_default_partitions',
  'prune_rejected_deliveries',
  'remove_sign_ins',
  'remove_idempotency_keys',
  'roll_up_activity',
  'fill_search_terms',
] as const;
export type MaintenanceStep = (typeof MAINTENANCE_STEPS)[number];

export interface WorkerMetrics {
  registry: Registry;
  outcomes: Counter<'outcome'>;
  changedDuplicates: Counter<never>;
  writtenSeconds: Histogram<never>;
  batchSizes: Histogram<never>;
  swept: Counter<never>;
  lostWakeUps: Counter<never>;
  outages: Counter<never>;
  maintenanceFailures: Counter<'step'>;
  inDefaultPartitions: Gauge<never>;
}

export function createMetrics(): WorkerMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const outcomes = new Counter({
    name: 'worker_receipts_total',
    help: 'Receipts moved, by the state they were moved to',
    labelNames: ['outcome'],
    registers,
  });
  // What begins with its first event shows no increase by it.
  for (const outcome of ['written', 'duplicate', 'failed', 'dead']) outcomes.inc({ outcome }, 0);
  const maintenanceFailures = new Counter({
    name: 'worker_maintenance_failures_total',
    help: 'Steps of maintenance that failed and are tried again',
    labelNames: ['step'],
    registers,
  });
  for (const step of MAINTENANCE_STEPS) maintenanceFailures.inc({ step }, 0);
  return {
    registry,
    outcomes,
    changedDuplicates: new Counter({
      name: 'worker_changed_duplicates_total',
      help: 'Receipts moved to duplicate that say something else than their order',
      registers,
    }),
    writtenSeconds: new Histogram({
      name: 'worker_written_seconds',
      help: 'Time from the receipt of an order to its write, of those written, by the clock of Postgres',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
      registers,
    }),
    batchSizes: new Histogram({
      name: 'worker_batch_receipts',
      help: 'Receipts written together',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    swept: new Counter({ name: 'worker_swept_receipts_total', help: 'Receipts the sweeper rang again for', registers }),
    lostWakeUps: new Counter({
      name: 'worker_lost_wake_ups_total',
      help: 'Rings that did not reach the queue',
      registers,
    }),
    outages: new Counter({ name: 'worker_outages_total', help: 'Rings that met an outage and come back', registers }),
    maintenanceFailures,
    inDefaultPartitions: new Gauge({
      name: 'worker_default_partition_rows',
      help: 'Receipts and bodies in no partition of their week',
      registers,
    }),
  };
}
