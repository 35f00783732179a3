import { createRegistry, metricsOf } from '@orders/runtime/observability/metrics.ts';

export type NotifierMetrics = ReturnType<typeof createMetrics>;

/** @param countActive the number of endpoints that are served now. */
export function createMetrics(countActive: () => number) {
  const registry = createRegistry();
  const { counter, gauge, histogram } = metricsOf(registry);
  gauge('notifier_active_endpoints', 'Endpoints that are served now', countActive);
  return {
    registry,
    attempts: counter('notifier_attempts_total', 'Attempts to deliver an event, by outcome', {
      outcome: ['delivered', 'failed'],
    }),
    attemptSeconds: histogram(
      'notifier_attempt_seconds',
      'Duration of an attempt',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    ),
    deliveredSeconds: histogram(
      'notifier_delivered_seconds',
      'Time from an event to its delivery, if the first attempt succeeded',
      [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    ),
    disabledEndpoints: counter(
      'notifier_disabled_endpoints_total',
      'Endpoints that were disabled, because they replied 410 or no attempt succeeded for five days',
      { reason: ['gone', 'failing'] },
    ),
    delayedRounds: counter(
      'notifier_delayed_rounds_total',
      'Rounds that delivered nothing, because the host of the endpoint had got CALLBACK_RATE requests a second',
    ),
    failedRounds: counter(
      'notifier_failed_rounds_total',
      'Rounds whose outcome was not stored, most often in an outage of Postgres; they are repeated once the lease expires',
    ),
  };
}
