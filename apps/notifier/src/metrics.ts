import { Counter, createRegistry, Gauge, Histogram, type Registry } from '@orders/runtime/observability/metrics.ts';

export interface NotifierMetrics {
  registry: Registry;
  attempts: Counter<'outcome'>;
  attemptSeconds: Histogram<never>;
  deliveredSeconds: Histogram<never>;
  disabledEndpoints: Counter<'reason'>;
  failedRounds: Counter<never>;
  delayedRounds: Counter<never>;
}

/** @param countActive the number of endpoints that are served now. */
export function createMetrics(countActive: () => number): NotifierMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const attempts = new Counter({
    name: 'notifier_attempts_total',
    help: 'Attempts to deliver an event, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  // Start at 0: Prometheus sees no increase if a series starts at 1.
  for (const outcome of ['delivered', 'failed']) attempts.inc({ outcome }, 0);
  const disabledEndpoints = new Counter({
    name: 'notifier_disabled_endpoints_total',
    help: 'Endpoints that were disabled, because they replied 410 or no attempt succeeded for five days',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['gone', 'failing']) disabledEndpoints.inc({ reason }, 0);
  new Gauge({
    name: 'notifier_active_endpoints',
    help: 'Endpoints that are served now',
    registers,
    collect() {
      this.set(countActive());
    },
  });
  return {
    registry,
    attempts,
    attemptSeconds: new Histogram({
      name: 'notifier_attempt_seconds',
      help: 'Duration of an attempt',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    }),
    deliveredSeconds: new Histogram({
      name: 'notifier_delivered_seconds',
      help: 'Time from an event to its delivery, if the first attempt succeeded',
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
      registers,
    }),
    disabledEndpoints,
    delayedRounds: new Counter({
      name: 'notifier_delayed_rounds_total',
      help: 'Rounds that delivered nothing, because the host of the endpoint had got CALLBACK_RATE requests a second',
      registers,
    }),
    failedRounds: new Counter({
      name: 'notifier_failed_rounds_total',
      help: 'Rounds whose outcome was not stored, most often in an outage of Postgres; they are repeated once the lease expires',
      registers,
    }),
  };
}
