import { DELIVERY_OUTCOMES } from '@orders/database/sources/add-activity.ts';
import { SOURCE_PRESETS } from '@orders/domain/sources/settings.ts';
import type { FairBudget } from '@orders/runtime/concurrency/fair-budget.ts';
import { Counter, createRegistry, Gauge, Histogram, type Registry } from '@orders/runtime/observability/metrics.ts';
import type { Admission } from '../admission/admission.ts';

export interface IntakeMetrics {
  registry: Registry;
  requests: Counter<'route' | 'status' | 'code'>;
  requestSeconds: Histogram<'route'>;
  acceptSeconds: Histogram<never>;
  batchSizes: Histogram<never>;
  receipts: Counter<'outcome'>;
  mismatches: Counter<'kept_as'>;
  cancellations: Counter<'outcome'>;
  deliveries: Counter<'preset' | 'outcome'>;
  rejectedBatchOrders: Counter<'code'>;
  lookups: Counter<'answered_by'>;
  lostWakeUps: Counter<never>;
  droppedConnections: Counter<never>;
  unrecordedRejections: Counter<never>;
}

/** @param admission its budgets are read on each scrape. */
export function createMetrics({ slots, bytes }: Admission): IntakeMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const exposeTaken = (name: string, help: string, budget: FairBudget) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(budget.taken);
      },
    });
  exposeTaken('intake_orders_in_flight', 'Orders being recorded, without those of batches', slots.order);
  exposeTaken('intake_batches_in_flight', 'Batches being recorded', slots.batch);
  exposeTaken('intake_body_bytes_in_flight', 'Bytes of bodies that are being received or recorded', bytes);
  const receipts = new Counter({
    name: 'intake_receipts_total',
    help: 'Receipts: accepted, replayed (the key was used before: its first receipt), or kept (other content under such a key)',
    labelNames: ['outcome'],
    registers,
  });
  // Start at 0: Prometheus sees no increase if a series starts with its first event.
  for (const outcome of ['accepted', 'replayed', 'kept']) receipts.inc({ outcome }, 0);
  const mismatches = new Counter({
    name: 'intake_payload_mismatches_total',
    help: 'Deliveries whose idempotency key was used before with other content, by how they are kept: as a resend of the order, or dead',
    labelNames: ['kept_as'],
    registers,
  });
  for (const kept_as of ['resend', 'dead']) mismatches.inc({ kept_as }, 0);
  const cancellations = new Counter({
    name: 'intake_cancellations_total',
    help: 'Cancellations by outcome: cancelled, requested (dispatching has seen the order), or held (the order has not arrived)',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['cancelled', 'requested', 'held']) cancellations.inc({ outcome }, 0);
  const deliveries = new Counter({
    name: 'intake_source_deliveries_total',
    help: 'Deliveries to sources by preset and outcome',
    labelNames: ['preset', 'outcome'],
    registers,
  });
  for (const preset of SOURCE_PRESETS) for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ preset, outcome }, 0);
  return {
    registry,
    deliveries,
    receipts,
    mismatches,
    cancellations,
    requests: new Counter({
      name: 'intake_requests_total',
      help: 'Requests by route, HTTP status and problem code',
      labelNames: ['route', 'status', 'code'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'intake_request_seconds',
      help: 'Time from the head of a request to the end of its reply',
      labelNames: ['route'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    acceptSeconds: new Histogram({
      name: 'intake_accept_seconds',
      help: 'Time from the head of a request to the commit of its receipt, of those accepted or replayed',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    batchSizes: new Histogram({
      name: 'intake_batch_receipts',
      help: 'Receipts committed together',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    rejectedBatchOrders: new Counter({
      name: 'intake_batch_orders_rejected_total',
      help: 'Orders rejected within a batch that got 202, by problem code',
      labelNames: ['code'],
      registers,
    }),
    lookups: new Counter({
      name: 'intake_receipt_lookups_total',
      help: 'Look-ups of one receipt by where it was read: the replica of DATABASE_READ_URL, or the primary',
      labelNames: ['answered_by'],
      registers,
    }),
    lostWakeUps: new Counter({
      name: 'intake_lost_wake_ups_total',
      help: 'Jobs with wake-ups that did not reach the queue; the sweeper takes their receipts',
      registers,
    }),
    droppedConnections: new Counter({
      name: 'intake_dropped_connections_total',
      help: 'Connections closed at once because there were MAX_CONNECTIONS already',
      registers,
    }),
    unrecordedRejections: new Counter({
      name: 'intake_unrecorded_rejections_total',
      help: 'Rejections without a row in the log of rejected deliveries: above the rate, or Postgres could not store them',
      registers,
    }),
  };
}

/** A gauge that is read at each scrape. It is absent while its value cannot be read: a stale value, or 0, would mislead alerts and scaling. */
export function exposeGauge(registry: Registry, name: string, help: string, read: () => Promise<number | null>): void {
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
}
