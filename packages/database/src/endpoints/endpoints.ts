import { randomUUID } from 'node:crypto';
import type { DeliveryError } from '@orders/domain/endpoints.ts';
import { createEndpointId } from '@orders/domain/endpoints.ts';
import type { EventType } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createStandardSecret } from '@orders/domain/sources/read-secret.ts';
import type { Knex } from 'knex';
import { lockAccount } from '../accounts/accounts.ts';
import { type SecretsKeys, seal } from '../accounts/seal.ts';

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
from endpoints e where account_id = :accountId::int`;

/** The endpoints of an account, oldest first. */
export async function listEndpoints(db: Knex, accountId: number): Promise<Endpoint[]> {
  const { rows } = await db.raw(`${SELECT} order by endpoint_number`, { accountId });
  return rows;
}

/** The endpoint of an account with this id, or null. */
export async function findEndpoint(db: Knex, accountId: number, endpointId: string): Promise<Endpoint | null> {
  const { rows } = await db.raw(`${SELECT} and endpoint_id = :endpointId`, { accountId, endpointId });
  return rows[0] ?? null;
}

/** The endpoint with this id, in any account. */
export async function findAnyEndpoint(db: Knex, endpointId: string): Promise<Endpoint | null> {
  const [found] = await db('endpoints').where({ endpoint_id: endpointId }).select('account_id');
  return found ? findEndpoint(db, found.account_id, endpointId) : null;
}

/**
 * Creates an endpoint. It gets the events that are published from now on.
 *
 * @param types null for all.
 * @returns the endpoint and its secret, which cannot be read again.
 * @throws {Problem} `events_disabled`, or `too_many_endpoints` when the account has 10.
 */
export async function createEndpoint(
  db: Knex,
  keys: SecretsKeys,
  { accountId, url, types }: { accountId: number; url: string; types: readonly EventType[] | null },
): Promise<Endpoint & { secret: string }> {
  return db.transaction(async (trx) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(trx, accountId);
    const [log] = await trx('event_logs').where({ account_id: accountId, is_enabled: true }).select('last_sequence');
    if (!log) throw new Problem('events_disabled');
    const [existing] = await trx('endpoints').where({ account_id: accountId }).count();
    if (Number(existing?.count) >= MAX_ENDPOINTS) throw new Problem('too_many_endpoints');
    const [secret, endpointId] = [createStandardSecret(), createEndpointId()];
    await trx('endpoints').insert({
      account_id: accountId,
      endpoint_id: endpointId,
      url,
      types,
      sealed: seal(keys, accountId, secret),
      delivered_to: log.last_sequence,
      // Until its first quick round, so that new endpoints that hang use no capacity of quick ones.
      is_slow: true,
    });
    return { ...((await findEndpoint(trx, accountId, endpointId)) as Endpoint), secret };
  });
}

/** Identifies an endpoint of an account. */
export type EndpointKey = Pick<Endpoint, 'account_id' | 'endpoint_number'>;

const rowOf = (db: Knex, { account_id, endpoint_number }: EndpointKey) =>
  db('endpoints').where({ account_id, endpoint_number });

/**
 * Replaces the secret. Deliveries are signed with both for `overlapMs` milliseconds.
 *
 * @returns the new secret.
 */
export async function rotateEndpointSecret(
  db: Knex,
  keys: SecretsKeys,
  endpoint: EndpointKey,
  overlapMs: number,
): Promise<string> {
  const secret = createStandardSecret();
  await rowOf(db, endpoint).update({
    sealed: seal(keys, endpoint.account_id, secret),
    previous_sealed: db.raw('sealed'),
    previous_until: db.raw("now() + ? * interval '1 ms'", [overlapMs]),
  });
  return secret;
}

/** Pauses an endpoint. Its events wait while they are stored. @returns whether that changed anything. */
export async function pauseEndpoint(db: Knex, endpoint: EndpointKey): Promise<boolean> {
  return (await rowOf(db, endpoint).whereNull('disabled').update({ disabled: 'paused' })) > 0;
}

/** Max waiting deliveries that become due when an endpoint is enabled, or works again. The others stay on their retry schedule. */
export const MAX_DUE_AT_ONCE = 2000;

/** Enables a disabled endpoint. It gets what it missed. @returns whether that changed anything. */
export async function enableEndpoint(db: Knex, endpoint: EndpointKey): Promise<boolean> {
  return db.transaction(async (trx) => {
    const enabled = await rowOf(trx, endpoint)
      .whereNotNull('disabled')
      .update({ disabled: null, failing_since: null, is_slow: true, next_round_at: trx.fn.now() });
    if (enabled === 0) return false;
    const { account_id, endpoint_number } = endpoint;
    await trx.raw(
      `update waiting_deliveries set due_at = now()
       where account_id = :account_id and endpoint_number = :endpoint_number and sequence = any(array(
         select sequence from waiting_deliveries where account_id = :account_id and endpoint_number = :endpoint_number and due_at > now()
         order by due_at limit ${MAX_DUE_AT_ONCE}
       ))`,
      { account_id, endpoint_number },
    );
    return true;
  });
}

/** Removes an endpoint. The worker removes its attempts and waiting deliveries later. @returns whether it still existed. */
export async function removeEndpoint(db: Knex, endpoint: EndpointKey): Promise<boolean> {
  return (await rowOf(db, endpoint).delete()) > 0;
}

/**
 * Requests one attempt to deliver a test event, even while the endpoint is disabled.
 *
 * @returns the id of the event, and whether it is new: an earlier one may not be delivered yet. Null if the endpoint was removed.
 */
export async function requestTest(
  db: Knex,
  endpoint: EndpointKey,
): Promise<{ eventId: string; isNew: boolean } | null> {
  const requested = randomUUID();
  const [row] = await rowOf(db, endpoint)
    .update({ test_event_id: db.raw('coalesce(test_event_id, ?::uuid)', [requested]) })
    .returning('test_event_id');
  return row ? { eventId: row.test_event_id, isNew: row.test_event_id === requested } : null;
}

/** Max events of one resend. */
export const MAX_RESENT = 10_000;

/**
 * Delivers stored events of a range of sequences again, if their type is one of the endpoint's.
 *
 * @returns their number; only the oldest 10,000 of the range are taken.
 */
export async function resendEvents(db: Knex, endpoint: EndpointKey, from: number, to: number): Promise<number> {
  const { account_id, endpoint_number } = endpoint;
  // The endpoint is locked first, as when a round is settled or the endpoint is removed.
  const { rowCount } = await db.raw(
    `with endpoint as (
       update endpoints set next_round_at = now() where account_id = :account_id::int and endpoint_number = :endpoint_number::int
       returning account_id, endpoint_number, delivered_to, types
     )
     insert into waiting_deliveries (account_id, endpoint_number, sequence)
     select e.account_id, e.endpoint_number, v.sequence
     from endpoint e
     cross join lateral (
       select sequence from events
       where account_id = :account_id::int and sequence between :from::bigint and :to::bigint and sequence <= e.delivered_to
         and (e.types is null or type = any(e.types))
       order by sequence limit ${MAX_RESENT}
     ) as v
     on conflict (account_id, endpoint_number, sequence) do update set due_at = now()`,
    { account_id, endpoint_number, from, to },
  );
  return rowCount;
}

/** The newest attempts to deliver to an endpoint, newest first: before an attempt, and of one event, if these are given. */
export async function listAttempts(
  db: Knex,
  { account_id, endpoint_number }: EndpointKey,
  { limit, before, eventId }: { limit: number; before?: number | undefined; eventId?: string | undefined },
): Promise<DeliveryAttempt[]> {
  const query = db('delivery_attempts')
    .where({ account_id, endpoint_number })
    .orderBy('attempt_number', 'desc')
    .limit(limit)
    .select('attempt_number', 'at', 'event_id', 'type', 'sequence', 'attempt', 'duration_ms', 'status', 'error');
  if (before !== undefined) query.where('attempt_number', '<', before);
  if (eventId !== undefined) query.where('event_id', eventId);
  return query;
}
