import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import {
  createEndpoint,
  type DeliveryAttempt,
  type DisabledReason,
  type Endpoint,
  enableEndpoint,
  listAttempts,
  pauseEndpoint,
  removeEndpoint,
  requestTest,
  resendEvents,
  rotateEndpointSecret,
} from '@orders/database/endpoints/endpoints.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { DELIVERY_ERRORS, withoutQuery } from '@orders/domain/endpoints.ts';
import { type EventType, eventId } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import { recordAction } from './audit.ts';
import { Failure } from './errors.ts';
import { requireAccount, requireEndpoint } from './require.ts';
import { count, details, table } from './table.ts';

/** @throws {Failure} that says which command enables events, if they are not enabled; {Problem} with 10 endpoints. */
export async function addEndpoint(
  database: Database,
  keys: SecretsKeys,
  account: string,
  options: { url: string; types: readonly EventType[] | null },
): Promise<EndpointWithSecret> {
  const { account_id } = await requireAccount(database, account);
  return inTransaction(database, async (transaction) => {
    const created = await createEndpoint(transaction, keys, { accountId: account_id, ...options }).catch(
      (error: unknown) => {
        if (!(error instanceof Problem && error.code === 'events_disabled')) throw error;
        throw new Failure(`Events are not enabled for this account: run orders events enable ${account_id} first.`);
      },
    );
    await recordEndpointAction(transaction, 'endpoint_created', created, options.types && { types: options.types });
    return created;
  });
}

/** Replaces the secret; deliveries are signed with both for `overlapMs` milliseconds. */
export async function replaceEndpointSecret(
  database: Database,
  keys: SecretsKeys,
  endpointId: string,
  overlapMs: number,
): Promise<EndpointWithSecret> {
  return inTransaction(database, async (transaction) => {
    const secret = await rotateEndpointSecret(
      transaction,
      keys,
      await requireEndpoint(transaction, endpointId),
      overlapMs,
    );
    // Again, because another session may have removed it meanwhile; the row is locked now.
    const endpoint = await requireEndpoint(transaction, endpointId);
    await recordEndpointAction(transaction, 'endpoint_rotated', endpoint, { overlap_ms: overlapMs });
    return { ...endpoint, secret };
  });
}

/** Enables or pauses an endpoint. Without a change there is no audit entry. */
export async function switchEndpoint(database: Database, endpointId: string, isEnabled: boolean): Promise<Endpoint> {
  const endpoint = await requireEndpoint(database, endpointId);
  return inTransaction(database, async (transaction) => {
    const hasChanged = await (isEnabled ? enableEndpoint : pauseEndpoint)(transaction, endpoint);
    if (hasChanged)
      await recordEndpointAction(transaction, isEnabled ? 'endpoint_enabled' : 'endpoint_paused', endpoint);
    return requireEndpoint(transaction, endpointId);
  });
}

export async function deleteEndpoint(database: Database, endpointId: string): Promise<Endpoint> {
  const endpoint = await requireEndpoint(database, endpointId);
  await inTransaction(database, async (transaction) => {
    if (await removeEndpoint(transaction, endpoint))
      await recordEndpointAction(transaction, 'endpoint_removed', endpoint);
  });
  return endpoint;
}

/** Has the events of a range of sequences delivered again, without `to` all from the first. @returns the endpoint, and how many events there are. */
export async function resendRange(
  database: Database,
  endpointId: string,
  { from, to }: { from: number; to?: number | undefined },
): Promise<{ endpoint: Endpoint; resent: number }> {
  const endpoint = await requireEndpoint(database, endpointId);
  const resent = await inTransaction(database, async (transaction) => {
    const events = await resendEvents(transaction, endpoint, from, to ?? Number.MAX_SAFE_INTEGER);
    if (events > 0)
      await recordEndpointAction(transaction, 'events_resent', endpoint, { from, to: to ?? null, events });
    return events;
  });
  return { endpoint, resent };
}

/** Records an action on an endpoint in the audit trail. */
function recordEndpointAction(
  transaction: Connection,
  action: string,
  { account_id, endpoint_number, url }: Endpoint,
  more: object | null = null,
): Promise<void> {
  const subject = `endpoint:${endpoint_number}`;
  return recordAction(transaction, {
    accountId: account_id,
    action,
    subject,
    details: { url: withoutQuery(url), ...more },
  });
}

/** Longer than an attempt, which takes at most 15 seconds. */
const TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 200;
/** Attempts of other events that may have been made since, at most. */
const MAX_ATTEMPTS = 1000;

/**
 * Has a test event delivered, and waits for the outcome.
 *
 * @throws {Failure} if there is none in time.
 */
export async function tryEndpoint(database: Database, endpointId: string): Promise<AttemptJson> {
  const endpoint = await requireEndpoint(database, endpointId);
  const { eventId } = await inTransaction(database, async (transaction) => {
    const requested = await requestTest(transaction, endpoint);
    if (!requested) throw new Failure('The endpoint was removed.');
    if (requested.isNew) await recordEndpointAction(transaction, 'endpoint_tested', endpoint);
    return requested;
  });
  for (const startedAt = performance.now(); performance.now() - startedAt < TIMEOUT_MS; ) {
    const attempts = await listAttempts(database, endpoint, { limit: MAX_ATTEMPTS });
    const attempt = attempts.find(({ event_id }) => event_id === eventId);
    if (attempt) return attemptJson(attempt);
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Failure(
    `The test event has no outcome after ${TIMEOUT_MS / 1000} seconds: check that the notifier runs; orders endpoints deliveries shows it once it is delivered.`,
  );
}

/** The outcome of a test as a line. */
export function describeTried({ status, duration_ms, error, detail }: AttemptJson): string {
  const facts = `${status === null ? 'no status' : `status ${status}`}, ${count(duration_ms)} ms`;
  return error === null ? `The test event was delivered (${facts}).` : `The test failed (${facts}): ${detail}`;
}

/** An endpoint whose secret is new. */
type EndpointWithSecret = Endpoint & { secret: string };

/** An attempt as `--json` prints it. */
type AttemptJson = ReturnType<typeof attemptJson>;

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
