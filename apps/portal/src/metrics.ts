import { Counter, createRegistry, Histogram, type Registry } from '@orders/runtime/observability/metrics.ts';

export interface PortalMetrics {
  registry: Registry;
  requests: Counter<'route' | 'status' | 'code'>;
  requestSeconds: Histogram<'route'>;
  refusedSignIns: Counter<'code'>;
  newOperators: Counter<never>;
  mails: Counter<'outcome'>;
}

/** `failed`: after all attempts, or refused for good. `dropped`: too many waited, or the process ended. */
export type MailOutcome = 'sent' | 'failed' | 'dropped';

/** Codes of `Problem` of a sign-in that is refused. */
export const REFUSED_SIGN_IN: readonly string[] = [
  'wrong_credentials',
  'wrong_code',
  'passkey_rejected',
  'too_many_attempts',
  'too_many_sign_ins',
];

export function createMetrics(): PortalMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const refusedSignIns = new Counter({
    name: 'portal_refused_sign_ins_total',
    help: 'Wrong passwords, codes and passkeys, and attempts that were refused unchecked, by problem code',
    labelNames: ['code'],
    registers,
  });
  // Start at 0: Prometheus sees no increase if a series starts with its first event.
  for (const code of REFUSED_SIGN_IN) refusedSignIns.inc({ code }, 0);
  const mails = new Counter({
    name: 'portal_mails_total',
    help: 'Mails to users by outcome',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['sent', 'failed', 'dropped'] satisfies MailOutcome[]) mails.inc({ outcome }, 0);
  return {
    registry,
    mails,
    requests: new Counter({
      name: 'portal_requests_total',
      help: 'Requests by route, HTTP status and problem code',
      labelNames: ['route', 'status', 'code'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'portal_request_seconds',
      help: 'Time from the head of a request to the end of its reply',
      labelNames: ['route'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    refusedSignIns,
    newOperators: new Counter({
      name: 'portal_new_operators_total',
      help: 'Users who became operators',
      registers,
    }),
  };
}
