import type { DeliveryAttempt, DisabledReason, Endpoint } from '@orders/database/endpoints/endpoints.ts';
import { DELIVERY_ERRORS } from '@orders/domain/endpoints.ts';
import { eventId } from '@orders/domain/events.ts';
import { count, details, table } from '../table.ts';

/** An endpoint whose secret is new. */
export type EndpointWithSecret = Endpoint & { secret: string };

/** An attempt as `--json` prints it. */
export type AttemptJson = ReturnType<typeof attemptJson>;

export function attemptJson({ attempt_number: _number, event_id, error, ...attempt }: DeliveryAttempt) {
  return { event_id: eventId(event_id), ...attempt, error, detail: error && DELIVERY_ERRORS[error] };
}

export function describeNewEndpoint(endpoint: EndpointWithSecret): string {
  const { secret, previous_until } = endpoint;
  const shown = details([...entriesOf(endpoint), ['secret', secret]]);
  const old = previous_until
    ? `\nUntil ${previous_until.toISOString()} deliveries are signed with the old secret too.`
    : '';
  return `${shown}\nEnter the secret at the receiver now: it cannot be shown again.${old}`;
}

export function describeEndpoint(endpoint: Endpoint): string {
  return details([
    ...entriesOf(endpoint),
    ['state', stateOf(endpoint)],
    ['pending', endpoint.pending],
    ['waiting', endpoint.waiting],
  ]);
}

export function tabulateEndpoints(endpoints: readonly Endpoint[]): string {
  return table(endpoints, [
    { head: 'ENDPOINT', cell: ({ endpoint_id }) => endpoint_id },
    { head: 'URL', cell: ({ url }) => url, shrinks: true },
    { head: 'TYPES', cell: typesOf, shrinks: true },
    { head: 'STATE', cell: stateOf },
    { head: 'PENDING', cell: ({ pending }) => count(pending), right: true },
    { head: 'WAITING', cell: ({ waiting }) => count(waiting), right: true },
  ]);
}

export function tabulateAttempts(attempts: readonly AttemptJson[]): string {
  return table(attempts, [
    { head: 'AT', cell: ({ at }) => at },
    { head: 'SEQUENCE', cell: ({ sequence }) => sequence, right: true },
    { head: 'TYPE', cell: ({ type }) => type },
    { head: 'ATTEMPT', cell: ({ attempt }) => attempt, right: true },
    { head: 'STATUS', cell: ({ status }) => status, right: true },
    { head: 'MS', cell: ({ duration_ms }) => count(duration_ms), right: true },
    { head: 'ERROR', cell: ({ error }) => error },
  ]);
}

function entriesOf(endpoint: Endpoint): [string, string | number][] {
  return [
    ['endpoint', endpoint.endpoint_id],
    ['account', endpoint.account_id],
    ['url', endpoint.url],
    ['types', typesOf(endpoint)],
  ];
}

function typesOf({ types }: Endpoint): string {
  return types?.join(', ') ?? 'all';
}

const DISABLED_STATES: Record<DisabledReason, string> = {
  paused: 'disabled',
  gone: 'disabled: replied 410',
  failing: 'disabled: no success for 5 days',
};

function stateOf({ disabled, failing_since }: Endpoint): string {
  if (disabled) return DISABLED_STATES[disabled];
  return failing_since ? 'failing' : 'enabled';
}
