import { type SecretsKeys, unseal } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { retryDelay } from '@orders/domain/endpoints.ts';
import { type AccountEvent, eventId, eventJson, TEST_EVENT, testEventJson } from '@orders/domain/events.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { Webhook } from 'standardwebhooks';
import type { EndpointCaller } from './call-endpoint.ts';
import type { ClaimedEndpoint } from './claim-endpoints.ts';
import { BURST, type HostRates } from './host-rates.ts';
import type { NotifierMetrics } from './metrics.ts';
import { type Attempt, settleDeliveries } from './settle-deliveries.ts';

/** Max events that are examined for new deliveries; many may be of other types. */
const MAX_EXAMINED = 500;

const READ = {
  name: 'read-deliveries',
  // Half of the limit is for new events, so that those which the receiver rejects do not delay the others. An event that was removed because
  // of its age has no id; it is not delivered.
  text: `
with examined as materialized (
  select sequence, type from events where account_id = $1::int and sequence > $3::bigint order by sequence limit ${MAX_EXAMINED}
), candidates as materialized (
  select sequence from examined where $4::text[] is null or type = any($4::text[]) order by sequence limit $5::int
), waiting as materialized (
  select sequence, attempts from waiting_deliveries
  where account_id = $1::int and endpoint_number = $2::int and due_at <= now()
  order by due_at
  limit case when $6::boolean and exists (select from candidates) then 0
             else $5::int - least($5::int / 2, (select count(*) from candidates)) end
), room as materialized (
  select $5::int - count(*) as count from waiting
), new as materialized (
  select sequence from candidates order by sequence limit (select count from room)
), reached as (
  select coalesce(case when (select count(*) from new) = (select count from room) then (select max(sequence) from new)
                       else (select max(sequence) from examined) end, $3::bigint) as sequence
), deliveries as (
  select sequence, attempts, true as "isRetry" from waiting
  union all
  select sequence, 0, false from new
)
select r.sequence as cursor, d.sequence, d.attempts, e.event_id, e.type, e.happened_at, e.receipt_id, e.source_order_id, e.order_id,
       e.details
from reached r
left join deliveries d on true
left join lateral (
  select * from events where account_id = $1::int and sequence = d.sequence offset 0
) as e on true
order by d."isRetry" desc, d.sequence`,
};

/** An event that is to be delivered, and how often that was tried. */
interface Delivery extends AccountEvent {
  attempts: number;
}

/** What an endpoint gets in one round. */
interface NextDeliveries {
  deliveries: Delivery[];
  /** Sequences of events that no longer exist. */
  removed: number[];
  /** The cursor of the endpoint after this round. */
  cursor: number;
}

/**
 * Reads what an endpoint gets next: retries that are due and, as at least half of them if there are as many, new events.
 *
 * @param limit max deliveries.
 * @param prefersNew whether a retry is only read if there is no new event.
 */
async function readDeliveries(
  database: Database,
  endpoint: ClaimedEndpoint,
  limit: number,
  prefersNew: boolean,
): Promise<NextDeliveries> {
  type Row = Omit<Delivery, 'sequence' | 'event_id'> & {
    cursor: number;
    sequence: number | null;
    event_id: string | null;
  };
  const { accountId, endpointNumber, cursor, types } = endpoint;
  const rows = await run<Row>(database, READ, [accountId, endpointNumber, cursor, types, limit, prefersNew]);
  const found = rows.filter(({ sequence }) => sequence !== null);
  return {
    deliveries: found.filter(({ event_id }) => event_id !== null) as unknown as Delivery[],
    removed: found.filter(({ event_id }) => event_id === null).map(({ sequence }) => sequence as number),
    cursor: rows[0]?.cursor ?? cursor,
  };
}

/** A round that takes longer makes an endpoint slow. */
const SLOW_MS = 2000;

/**
 * Delivers to a leased endpoint: its test event, or retries that are due and new events, as many as its host may get now. A failing endpoint
 * gets one event a round, a retry or a new one.
 *
 * @throws when Postgres is unavailable or the endpoint's secret cannot be unsealed; the lease then expires and everything is tried again.
 */
export type DeliverRound = (endpoint: ClaimedEndpoint, leaseId: string) => Promise<void>;

/** An event with the body of its delivery. */
type Message = Pick<Attempt, 'eventUuid' | 'type' | 'sequence' | 'attempt'> & { body: string; happenedAt: Date | null };

export function createDeliverRound(deps: {
  database: Database;
  caller: EndpointCaller;
  rates: HostRates;
  /** Also for one endpoint: whichever notifier serves it, its next round begins no sooner than its requests of this round are worth. */
  msPerRequest: number;
  secretsKeys: SecretsKeys;
  metrics: NotifierMetrics;
  logger: Logger;
}): DeliverRound {
  const { database, caller, rates, msPerRequest, secretsKeys, metrics, logger } = deps;

  async function attempt(url: string, webhooks: readonly Webhook[], message: Message) {
    const { body, happenedAt, ...event } = message;
    const at = new Date();
    const startedAt = performance.now();
    const id = eventId(event.eventUuid);
    const { status, error, retryAfterMs } = await caller.call(
      url,
      {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhooks.map((webhook) => webhook.sign(id, at, body)).join(' '),
      },
      body,
    );
    const durationMs = performance.now() - startedAt;
    metrics.attempts.inc({ outcome: error === null ? 'delivered' : 'failed' });
    metrics.attemptSeconds.observe(durationMs / 1000);
    if (error === null && happenedAt && event.attempt === 1)
      metrics.deliveredSeconds.observe(Math.max(0, Date.now() - happenedAt.getTime()) / 1000);
    const nextAttemptInMs = Math.max(retryAfterMs, retryDelay(event.attempt, Math.random()));
    return { ...event, at, durationMs, status, error, nextAttemptInMs, retryAfterMs };
  }

  /** The events of a round of at most `count` attempts. A round of one has a retry or a new event, by chance. */
  async function readMessages(endpoint: ClaimedEndpoint, count: number) {
    const prefersNew = count === 1 && Math.random() < 0.5;
    const { deliveries, ...read } = await readDeliveries(database, endpoint, count, prefersNew);
    return { messages: deliveries.map(toMessage), ...read };
  }

  /** The messages of a round; none if the host of the endpoint may get none for `waitMs`. */
  async function nextMessages(endpoint: ClaimedEndpoint) {
    const { accountId, url, testEventId, isFailing, cursor } = endpoint;
    const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? url;
    // A round for a test event delivers nothing else, because the endpoint may be disabled, or have asked for a pause.
    if (testEventId !== null) {
      rates.force(host, accountId);
      return { messages: [testMessage(testEventId)], removed: [], cursor, waitMs: 0 };
    }
    const { granted, waitMs } = rates.take(host, accountId, isFailing ? 1 : BURST);
    if (granted === 0) {
      metrics.delayedRounds.inc();
      return { messages: [], removed: [], cursor, waitMs };
    }
    const read = await readMessages(endpoint, granted);
    rates.giveBack(host, accountId, granted - read.messages.length);
    return { ...read, waitMs: read.messages.length * msPerRequest };
  }

  return async (endpoint, leaseId) => {
    const { accountId, url, sealed, previousSealed } = endpoint;
    const secrets = [sealed, ...(previousSealed ? [previousSealed] : [])];
    const webhooks = secrets.map((secret) => new Webhook(unseal(secretsKeys, accountId, secret)));
    const { messages, removed, cursor, waitMs } = await nextMessages(endpoint);
    const startedAt = performance.now();
    const attempts = await Promise.all(messages.map((message) => attempt(url, webhooks, message)));
    const disabled = await settleDeliveries(database, endpoint, {
      leaseId,
      attempts,
      removed,
      cursor,
      tookLong: performance.now() - startedAt > SLOW_MS,
      minNextRoundInMs: Math.max(waitMs, ...attempts.map(({ retryAfterMs }) => retryAfterMs)),
    });
    const fields = { account_id: accountId, endpoint_id: endpoint.endpointId };
    if (logger.isDebugEnabled()) {
      for (const { eventUuid, status, error } of attempts)
        logger.debug('delivery attempted', { ...fields, event_id: eventId(eventUuid), status, error });
    }
    if (disabled === null) return;
    const { reason, isTest } = disabled;
    // An alert reads it, and nobody is to be called because of a test.
    if (!isTest) metrics.disabledEndpoints.inc({ reason });
    logger.warn('endpoint disabled', { ...fields, reason });
  };
}

function toMessage(delivery: Delivery): Message {
  const { event_id, type, sequence, attempts, happened_at } = delivery;
  const body = JSON.stringify(eventJson(delivery));
  return { eventUuid: event_id, type, sequence, attempt: attempts + 1, body, happenedAt: happened_at };
}

function testMessage(uuid: string): Message {
  const body = JSON.stringify(testEventJson(uuid, new Date()));
  return { eventUuid: uuid, type: TEST_EVENT, sequence: null, attempt: 1, body, happenedAt: null };
}
