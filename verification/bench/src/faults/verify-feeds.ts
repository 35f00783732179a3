import type pg from 'pg';
import type { EndpointReceiver } from './endpoint-receiver.ts';
import type { EventFollower } from './event-follower.ts';
import type { Finding, Findings } from './findings.ts';
import type { EventLedger } from './ledger.ts';
import { type RoundsDeps, SETTLE_SECONDS } from './round.ts';
import { type Patience, patienceOf, waitUntil } from './wait-until.ts';

/**
 * Waits until what is due now is published and was read, or the patience ends, and reads the feeds again.
 *
 * @param options `from` is where the feeds are read again; with `due: 'ever'`, undo times are waited for.
 * @returns the time before which everything must be published; null for any time.
 */
export async function untilEventsRead(
  client: pg.Client,
  options: {
    follower: EventFollower;
    findings: Findings;
    from: 'last call' | 'start';
    patience: Patience;
    due: 'now' | 'ever';
  },
): Promise<Date | null> {
  const { follower, findings, from, patience, due } = options;
  const publishedBefore = due === 'now' ? new Date() : null;
  const isPublished = async () => {
    const { rows } = await client.query(
      `select not exists (
         select from unpublished_events where due_at < $1::timestamptz and event_id <> all($2::uuid[])) as published`,
      [publishedBefore ?? 'infinity', findings.known('event-unpublished')],
    );
    return rows[0].published;
  };
  await waitUntil(isPublished, patience);
  await untilFollowed(client, { follower, findings, patience });
  const behind = await follower.readAgain(from, patience);
  for (const accountId of behind) findings.add({ name: 'event-unread', id: `account ${accountId}` });
  return publishedBefore;
}

/** Waits until the feeds are followed to the events that are the newest ones now, or the patience ends. */
async function untilFollowed(
  client: pg.Client,
  { follower, findings, patience }: { follower: EventFollower; findings: Findings; patience: Patience },
): Promise<void> {
  const { rows } = await client.query('select account_id, last_sequence::float8 as sequence from event_logs');
  const sequences = new Map(rows.map(({ account_id, sequence }) => [account_id, sequence]));
  const behind = await follower.untilFollowed(sequences, patience);
  for (const accountId of behind) findings.add({ name: 'event-unread', id: `account ${accountId}` });
}

/** A retry may fail too, for example on a connection that is closed at this moment. */
const SKIP_INTERVAL_MS = 5000;

/** Retries are due, and the leases of killed notifiers have expired. Notifiers lock the endpoint first too. */
const SKIP_WAITING = `
select from endpoints order by account_id, endpoint_number for update;
update waiting_deliveries set due_at = now() where due_at > now();
update endpoints set next_round_at = least(next_round_at, now()), lease_expires_at = least(lease_expires_at, now())`;

/**
 * Waits until all events that were read are delivered or the patience ends, and compares all deliveries with the feeds.
 *
 * @param options `known` are the ids of findings that are not waited for. `untilRead` waits until all events that are published now were
 * read, because an endpoint may receive an event before the client reads it.
 */
export async function verifyDeliveries(
  client: pg.Client,
  options: {
    endpoints: readonly EndpointReceiver[];
    events: EventLedger;
    known: readonly string[];
    patience: Patience;
    untilRead: () => Promise<void>;
  },
): Promise<Finding[]> {
  const { endpoints, events, patience, untilRead } = options;
  const known = new Set(options.known);
  const feeds = endpoints.map(({ accountId, deliveries }) => ({
    accountId,
    deliveries,
    expected: [...events.eventsOf(accountId)],
  }));
  const findMissing = () =>
    feeds.flatMap(({ accountId, deliveries, expected }) =>
      deliveries
        .findMissing(expected)
        .map(({ id, type, data }) => ({ id: `account ${accountId} ${id}`, detail: `${type} ${data.sequence}` }))
        .filter(({ id }) => !known.has(id)),
    );
  let skippedAt = 0;
  await waitUntil(async () => {
    if (Date.now() - skippedAt >= SKIP_INTERVAL_MS) {
      await client.query(SKIP_WAITING);
      skippedAt = Date.now();
    }
    return findMissing().length === 0;
  }, patience);
  const missing = findMissing().map((finding): Finding => ({ name: 'delivery-missing', ...finding }));
  const received = feeds.map((feed) => ({ ...feed, ids: feed.deliveries.receivedIds() }));
  await untilRead();
  const others = received.map(({ accountId, deliveries, ids }) => deliveries.compare(ids, events.eventsOf(accountId)));
  return [...missing, ...others.flat()];
}

/** Verifies the deliveries of all events that were read so far. */
export async function verifyAllDeliveries(client: pg.Client, deps: RoundsDeps): Promise<Finding[]> {
  const { context, events, follower, findings } = deps;
  const patience = patienceOf(SETTLE_SECONDS);
  return verifyDeliveries(client, {
    endpoints: context.endpoints,
    events,
    known: findings.known('delivery-missing'),
    patience,
    untilRead: () => untilFollowed(client, { follower, findings, patience }),
  });
}
