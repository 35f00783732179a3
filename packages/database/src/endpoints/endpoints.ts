import { randomUUID } from 'node:crypto';
import { createEndpointId, type DeliveryError } from '@orders/domain/endpoints.ts';
import type { EventType } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createStandardSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type SecretsKeys, seal } from '../accounts/seal.ts';
import { type Connection, execute, inTransaction, matching, run } from '../run.ts';

/** Why an endpoint gets no deliveries. */
export type DisabledReason = 'paused' | 'gone' | 'failing';

/** An endpoint without its secret. */
export interface Endpoint {
  account_id: number;
  endpoint_number: number;
  endpoint_id: string;
  url: string;
  /** Null for all types. */
  types: EventType[] | null;
  created_at: Date;
  disabled: DisabledReason | null;
  /** When the first attempt since the last success failed; null while attempts succeed. */
  failing_since: Date | null;
  /** Deliveries that wait for a retry, or were requested again; at most 10,000. */
  waiting: number;
  /** Events that were not tried yet, of the next 10,000 of the log. */
  pending: number;
  /** While deliveries are signed with two secrets: when that ends. */
  previous_until: Date | null;
}

/** One attempt to deliver an event. */
export interface DeliveryAttempt {
  /** The id of the row, in the order of time. */
  attempt_number: number;
  at: Date;
  event_id: string;
  type: string;
  sequence: number | null;
  /** 1 for the first attempt to deliver the event. */
  attempt: number;
  duration_ms: number;
  /** Null without a response. */
  status: number | null;
  error: DeliveryError | null;
}

const MAX_ENDPOINTS = 10;
const MAX_COUNTED = 10_000;

const SELECT = `
select account_id, endpoint_number, endpoint_id, url, types, created_at, disabled, failing_since,
       (select count(*)::int from (
          select from waiting_deliveries w where w.account_id = e.account_id and w.endpoint_number = e.endpoint_number limit ${MAX_COUNTED}
        ) as counted) as waiting,
       (select count(*)::int from (
          select type from events v where v.account_id = e.account_id and v.sequence > e.delivered_to
          order by sequence limit ${MAX_COUNTED}
        ) as next where e.types is null or type = any(e.types)) as pending,
       case when previous_until > now() then previous_until end as previous_until
from endpoints e where account_id = $1::int`;

/** The endpoints of an account, oldest first. */
export async function listEndpoints(connection: Connection, accountId: number): Promise<Endpoint[]> {
  return run<Endpoint>(connection, `${SELECT} order by endpoint_number`, [accountId]);
}

/** The endpoint of an account with this id, or null. */
export async function findEndpoint(
  connection: Connection,
  accountId: number,
  endpointId: string,
): Promise<Endpoint | null> {
  const [endpoint] = await run<Endpoint>(connection, `${SELECT} and endpoint_id = $2`, [accountId, endpointId]);
  return endpoint ?? null;
}

/**
 * Creates an endpoint. It gets the events that are published from now on.
 *
 * @param types null for all.
 * @returns the endpoint and its secret, which cannot be read again.
 * @throws {Problem} `events_disabled`, or `too_many_endpoints` when the account has 10.
 */
export async function createEndpoint(
  connection: Connection,
  keys: SecretsKeys,
  { accountId, url, types }: { accountId: number; url: string; types: readonly EventType[] | null },
): Promise<Endpoint & { secret: string }> {
  return inTransaction(connection, async (transaction) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(transaction, accountId);
    const [log] = await run<{ last_sequence: number }>(
      transaction,
      'select last_sequence from event_logs where account_id = $1 and is_enabled',
      [accountId],
    );
    if (!log) throw new Problem('events_disabled');
    const count = 'select count(*) from endpoints where account_id = $1';
    const [existing] = await run<{ count: number }>(transaction, count, [accountId]);
    if ((existing?.count ?? 0) >= MAX_ENDPOINTS) throw new Problem('too_many_endpoints');
    const [secret, endpointId] = [createStandardSecret(), createEndpointId()];
    // It is slow until its first quick round, so that new endpoints that hang use no capacity of quick ones.
    await execute(
      transaction,
      `insert into endpoints (account_id, endpoint_id, url, types, sealed, delivered_to, is_slow)
       values ($1, $2, $3, $4, $5, $6, true)`,
      [accountId, endpointId, url, types, seal(keys, accountId, secret), log.last_sequence],
    );
    return { ...((await findEndpoint(transaction, accountId, endpointId)) as Endpoint), secret };
  });
}

/** Identifies an endpoint of an account. */
export type EndpointKey = Pick<Endpoint, 'account_id' | 'endpoint_number'>;

/** SQL: the endpoint with the values of `keyOf` as $1 and $2. */
const ONE_ENDPOINT = 'account_id = $1::int and endpoint_number = $2::int';
const keyOf = ({ account_id, endpoint_number }: EndpointKey) => [account_id, endpoint_number];

/**
 * Replaces the secret. Deliveries are signed with both for `overlapMs` milliseconds.
 *
 * @returns the new secret.
 */
export async function rotateEndpointSecret(
  connection: Connection,
  keys: SecretsKeys,
  endpoint: EndpointKey,
  overlapMs: number,
): Promise<string> {
  const secret = createStandardSecret();
  await execute(
    connection,
    `update endpoints set sealed = $3, previous_sealed = sealed, previous_until = now() + $4 * interval '1 ms'
     where ${ONE_ENDPOINT}`,
    [...keyOf(endpoint), seal(keys, endpoint.account_id, secret), overlapMs],
  );
  return secret;
}

/** Pauses an endpoint. Its events wait while they are stored. @returns whether that changed anything. */
export async function pauseEndpoint(connection: Connection, endpoint: EndpointKey): Promise<boolean> {
  const pause = `update endpoints set disabled = 'paused' where ${ONE_ENDPOINT} and disabled is null`;
  return (await execute(connection, pause, keyOf(endpoint))) > 0;
}

/** Max waiting deliveries that become due when an endpoint is enabled, or works again. The others stay on their retry schedule. */
export const MAX_DUE_AT_ONCE = 2000;

/** Enables a disabled endpoint. It gets what it missed. @returns whether that changed anything. */
export async function enableEndpoint(connection: Connection, endpoint: EndpointKey): Promise<boolean> {
  return inTransaction(connection, async (transaction) => {
    const enabled = await execute(
      transaction,
      `update endpoints set disabled = null, failing_since = null, is_slow = true, next_round_at = now()
       where ${ONE_ENDPOINT} and disabled is not null`,
      keyOf(endpoint),
    );
    if (enabled === 0) return false;
    await execute(
      transaction,
      `update waiting_deliveries set due_at = now()
       where ${ONE_ENDPOINT} and sequence = any(array(
         select sequence from waiting_deliveries where ${ONE_ENDPOINT} and due_at > now()
         order by due_at limit ${MAX_DUE_AT_ONCE}
       ))`,
      keyOf(endpoint),
    );
    return true;
  });
}

/** Removes an endpoint. The worker removes its attempts and waiting deliveries later. @returns whether it still existed. */
export async function removeEndpoint(connection: Connection, endpoint: EndpointKey): Promise<boolean> {
  return (await execute(connection, `delete from endpoints where ${ONE_ENDPOINT}`, keyOf(endpoint))) > 0;
}

/**
 * Requests one attempt to deliver a test event, even while the endpoint is disabled.
 *
 * @returns the id of the event, and whether it is new: an earlier one may not be delivered yet. Null if the endpoint was removed.
 */
export async function requestTest(
  connection: Connection,
  endpoint: EndpointKey,
): Promise<{ eventId: string; isNew: boolean } | null> {
  const requested = randomUUID();
  const [row] = await run<{ test_event_id: string }>(
    connection,
    `update endpoints set test_event_id = coalesce(test_event_id, $3::uuid) where ${ONE_ENDPOINT} returning test_event_id`,
    [...keyOf(endpoint), requested],
  );
  return row ? { eventId: row.test_event_id, isNew: row.test_event_id === requested } : null;
}

/** Max events of one resend. */
export const MAX_RESENT = 10_000;

/**
 * Delivers stored events of a range of sequences again, if their type is one of the endpoint's.
 *
 * @returns their number; only the oldest 10,000 of the range are taken.
 */
export async function resendEvents(
  connection: Connection,
  endpoint: EndpointKey,
  from: number,
  to: number,
): Promise<number> {
  // The endpoint is locked first, as when a round is settled or the endpoint is removed.
  return execute(
    connection,
    `with endpoint as (
       update endpoints set next_round_at = now() where ${ONE_ENDPOINT}
       returning account_id, endpoint_number, delivered_to, types
     )
     insert into waiting_deliveries (account_id, endpoint_number, sequence)
     select e.account_id, e.endpoint_number, v.sequence
     from endpoint e
     cross join lateral (
       select sequence from events
       where account_id = $1::int and sequence between $3::bigint and $4::bigint and sequence <= e.delivered_to
         and (e.types is null or type = any(e.types))
       order by sequence limit ${MAX_RESENT}
     ) as v
     on conflict (account_id, endpoint_number, sequence) do update set due_at = now()`,
    [...keyOf(endpoint), from, to],
  );
}

/** The newest attempts to deliver to an endpoint, newest first: before an attempt, and of one event, if these are given. */
export async function listAttempts(
  connection: Connection,
  endpoint: EndpointKey,
  { limit, before, eventId }: { limit: number; before?: number | undefined; eventId?: string | undefined },
): Promise<DeliveryAttempt[]> {
  const values = keyOf(endpoint) as unknown[];
  const filter = matching(values, { 'attempt_number < ?': before, 'event_id = ?': eventId });
  return run<DeliveryAttempt>(
    connection,
    `select attempt_number, at, event_id, type, sequence, attempt, duration_ms, status, error from delivery_attempts
     where ${ONE_ENDPOINT} and ${filter} order by attempt_number desc limit ${limit}`,
    values,
  );
}
