import { Counter, createRegistry, Gauge, Histogram, type Registry } from '@orders/runtime';

export interface WorkerMetrics {
  registry: Registry;
  outcomes: Counter<'outcome'>;
  batchSizes: Histogram<never>;
  swept: Counter<never>;
  lostRings: Counter<never>;
  outages: Counter<never>;
  queueDepth: Gauge<never>;
}

export function createMetrics(): WorkerMetrics {
  const registry = createRegistry();
  const registers = [registry];
  return {
    registry,
    outcomes: new Counter({
      name: 'worker_receipts_total',
      help: 'Receipts moved, by the state they were moved to',
      labelNames: ['outcome'],
      registers,
    }),
    batchSizes: new Histogram({
      name: 'worker_batch_receipts',
      help: 'Receipts written together',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    swept: new Counter({ name: 'worker_swept_receipts_total', help: 'Receipts the sweeper rang again for', registers }),
    lostRings: new Counter({ name: 'worker_lost_rings_total', help: 'Rings that did not reach the queue', registers }),
    outages: new Counter({ name: 'worker_outages_total', help: 'Rings that met an outage and come back', registers }),
    queueDepth: new Gauge({ name: 'worker_queue_depth', help: 'Jobs in the queue at the last sweep', registers }),
  };
}
