import { DELIVERY_OUTCOMES } from '@orders/database/sources/activity.ts';
import { PLATFORM_CANCELLATION_OUTCOMES } from '@orders/domain/cancellations.ts';
import { SOURCE_PRESETS } from '@orders/domain/sources/settings.ts';
import { createRegistry, metricsOf } from '@orders/runtime/observability/metrics.ts';
import type { Admission } from '../admission/admission.ts';

export type IntakeMetrics = ReturnType<typeof createMetrics>;

/** @param admission its budgets are read on each scrape. */
export function createMetrics(admission: Admission) {
  const { slots, bytes } = admission;
  const registry = createRegistry();
  const { counter, gauge, histogram } = metricsOf(registry);
  gauge('intake_orders_in_flight', 'Orders being recorded, without those of batches', () => slots.order.taken);
  gauge('intake_batches_in_flight', 'Batches being recorded', () => slots.batch.taken);
  gauge('intake_body_bytes_in_flight', 'Bytes of bodies that are being received or recorded', () => bytes.taken);
  gauge('intake_requests_waiting', 'Requests that wait, for up to a second, for a slot', () => admission.waiting);
  return {
    registry,
    requests: counter('intake_requests_total', 'Requests by route, HTTP status and problem code', [
      'route',
      'status',
      'code',
    ]),
    requestSeconds: histogram(
      'intake_request_seconds',
      'Time from the head of a request to the end of its reply',
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      ['route'],
    ),
    acceptSeconds: histogram(
      'intake_accept_seconds',
      'Time from the head of a request to the commit of its receipt, of those accepted or replayed',
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
    batchSizes: histogram('intake_batch_receipts', 'Receipts committed together', [1, 2, 5, 10, 20, 50, 100, 200]),
    receipts: counter(
      'intake_receipts_total',
      'Receipts: accepted, replayed (the key was used before: its first receipt), or kept (other content under such a key)',
      { outcome: ['accepted', 'replayed', 'kept'] },
    ),
    mismatches: counter(
      'intake_payload_mismatches_total',
      'Deliveries whose idempotency key was used before with other content, by how they are kept: as a changed delivery of the order, or dead',
      { kept_as: ['resend', 'dead'] },
    ),
    cancellations: counter(
      'intake_cancellations_total',
      'Cancellations by outcome: cancelled, requested (dispatching has seen the order), held (the order has not arrived), archived, or outdated (its platform has changed the order since)',
      { outcome: PLATFORM_CANCELLATION_OUTCOMES },
    ),
    deliveries: counter('intake_source_deliveries_total', 'Deliveries to sources by preset and outcome', {
      preset: SOURCE_PRESETS,
      outcome: DELIVERY_OUTCOMES,
    }),
    rejectedBatchOrders: counter(
      'intake_batch_orders_rejected_total',
      'Orders rejected within a batch that got 202, by problem code',
      ['code'],
    ),
    lookups: counter(
      'intake_receipt_lookups_total',
      'Look-ups of one receipt by where it was read: the replica of DATABASE_READ_URL, or the primary',
      ['answered_by'],
    ),
    lostWakeUps: counter(
      'intake_lost_wake_ups_total',
      'Jobs with wake-ups that did not reach the queue; the sweeper takes their receipts',
    ),
    droppedConnections: counter(
      'intake_dropped_connections_total',
      'Connections closed at once because there were MAX_CONNECTIONS already',
    ),
    unrecordedRejections: counter(
      'intake_unrecorded_rejections_total',
      'Rejections without a row in the log of rejected deliveries: above the rate, or Postgres could not store them',
    ),
  };
}
