import { Counter, createRegistry, Gauge, Histogram, type Registry } from '@orders/runtime/observability/metrics.ts';

/** Maintenance steps: the values of the metric label `step`. */
export const MAINTENANCE_STEPS = [
  'make_partitions',
  'drop_partitions',
  'remove_leftovers',
  'count_default_partitions',
  'prune_rejected_deliveries',
  'remove_sign_ins',
  'remove_portal_requests',
  'remove_held_cancellations',
  'prune_source_activity',
  'prune_events',
  'prune_delivery_attempts',
  'remove_orphaned_deliveries',
  'remove_idempotency_keys',
  'roll_up_activity',
  'fill_search_terms',
] as const;
export type MaintenanceStep = (typeof MAINTENANCE_STEPS)[number];

export interface WorkerMetrics {
  registry: Registry;
  outcomes: Counter<'outcome'>;
  cancelledOrders: Counter<never>;
  changedDuplicates: Counter<never>;
  postponedReceipts: Counter<never>;
  writtenSeconds: Histogram<never>;
  batchSizes: Histogram<never>;
  swept: Counter<never>;
  publishedEvents: Counter<never>;
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
  // Start at 0: Prometheus sees no increase if a series starts with its first event.
  for (const outcome of ['written', 'duplicate', 'failed', 'dead']) outcomes.inc({ outcome }, 0);
  const maintenanceFailures = new Counter({
    name: 'worker_maintenance_failures_total',
    help: 'Maintenance steps that failed and will be retried',
    labelNames: ['step'],
    registers,
  });
  for (const step of MAINTENANCE_STEPS) maintenanceFailures.inc({ step }, 0);
  return {
    registry,
    outcomes,
    cancelledOrders: new Counter({
      name: 'worker_cancelled_orders_total',
      help: 'Orders that were written as cancelled, as their cancellation was held',
      registers,
    }),
    changedDuplicates: new Counter({
      name: 'worker_changed_duplicates_total',
      help: 'Receipts moved to duplicate whose content differs from their order',
      registers,
    }),
    postponedReceipts: new Counter({
      name: 'worker_postponed_receipts_total',
      help: 'Times that a receipt was put off for a moment, as others locked it, its key or its order',
      registers,
    }),
    writtenSeconds: new Histogram({
      name: 'worker_written_seconds',
      help: 'Time from receipt to write of written orders, by the clock of Postgres',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
      registers,
    }),
    batchSizes: new Histogram({
      name: 'worker_batch_receipts',
      help: 'Receipts per write batch',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    swept: new Counter({
      name: 'worker_swept_receipts_total',
      help: 'Overdue receipts that the sweeper took from the outbox',
      registers,
    }),
    publishedEvents: new Counter({
      name: 'worker_published_events_total',
      help: 'Events published to the logs of accounts',
      registers,
    }),
    lostWakeUps: new Counter({
      name: 'worker_lost_wake_ups_total',
      help: 'Jobs with wake-ups that did not reach the queue',
      registers,
    }),
    outages: new Counter({
      name: 'worker_outages_total',
      help: 'Batches that failed as a whole, most often in an outage of Postgres, and will be retried',
      registers,
    }),
    maintenanceFailures,
    inDefaultPartitions: new Gauge({
      name: 'worker_default_partition_rows',
      help: 'Receipts and bodies in a default partition, as the partition of their week is missing',
      registers,
    }),
  };
}
