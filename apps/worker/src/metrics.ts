import { createRegistry, metricsOf } from '@orders/runtime/observability/metrics.ts';

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
  'empty_test_accounts',
  'remove_idempotency_keys',
  'roll_up_activity',
  'fill_search_terms',
] as const;
export type MaintenanceStep = (typeof MAINTENANCE_STEPS)[number];

export type WorkerMetrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = createRegistry();
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    registry,
    outcomes: counter('worker_receipts_total', 'Receipts moved, by the state they were moved to', {
      outcome: ['written', 'duplicate', 'failed', 'dead'],
    }),
    cancelledOrders: counter(
      'worker_cancelled_orders_total',
      'Orders that were written as cancelled, as their cancellation was held',
    ),
    changedDuplicates: counter(
      'worker_changed_duplicates_total',
      'Receipts moved to duplicate whose content differs from their order',
    ),
    postponedReceipts: counter(
      'worker_postponed_receipts_total',
      'Times that a receipt was put off for a moment, as others locked it, its key or its order',
    ),
    writtenSeconds: histogram(
      'worker_written_seconds',
      'Time from receipt to write of written orders, by the clock of Postgres',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    ),
    batchSizes: histogram('worker_batch_receipts', 'Receipts per write batch', [1, 2, 5, 10, 20, 50, 100, 200]),
    swept: counter('worker_swept_receipts_total', 'Overdue receipts that the sweeper took from the outbox'),
    publishedEvents: counter('worker_published_events_total', 'Events published to the logs of accounts'),
    lostWakeUps: counter('worker_lost_wake_ups_total', 'Jobs with wake-ups that did not reach the queue'),
    outages: counter(
      'worker_outages_total',
      'Batches that failed as a whole, most often in an outage of Postgres, and will be retried',
    ),
    maintenanceFailures: counter(
      'worker_maintenance_failures_total',
      'Maintenance steps that failed and will be retried',
      { step: MAINTENANCE_STEPS },
    ),
    inDefaultPartitions: gauge(
      'worker_default_partition_rows',
      'Receipts and bodies in a default partition, as the partition of their week is missing',
    ),
  };
}
