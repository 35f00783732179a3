import { createRegistry, metricsOf } from '@orders/runtime/observability/metrics.ts';

export type PortalMetrics = ReturnType<typeof createMetrics>;

/** `failed`: after all attempts, or rejected for good. `dropped`: too many waited, or the process ended. */
export type MailOutcome = 'sent' | 'failed' | 'dropped';

/** Codes of `Problem` of a sign-in that is rejected. */
export const REJECTED_SIGN_IN: readonly string[] = [
  'wrong_credentials',
  'wrong_code',
  'passkey_rejected',
  'too_many_attempts',
  'too_many_sign_ins',
];

export function createMetrics() {
  const registry = createRegistry();
  const { counter, histogram } = metricsOf(registry);
  return {
    registry,
    mails: counter('portal_mails_total', 'Mails to users by outcome', {
      outcome: ['sent', 'failed', 'dropped'] satisfies MailOutcome[],
    }),
    requests: counter('portal_requests_total', 'Requests by route, HTTP status and problem code', [
      'route',
      'status',
      'code',
    ]),
    requestSeconds: histogram(
      'portal_request_seconds',
      'Time from the head of a request to the end of its reply',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ['route'],
    ),
    rejectedSignIns: counter(
      'portal_refused_sign_ins_total',
      'Wrong passwords, codes and passkeys, and attempts that were rejected unchecked, by problem code',
      { code: REJECTED_SIGN_IN },
    ),
    newOperators: counter('portal_new_operators_total', 'Users who became operators'),
  };
}
