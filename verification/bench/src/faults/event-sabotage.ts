import type pg from 'pg';
import { createEventLedger, type EventLedger } from './event-ledger.ts';
import { createFindings, type Finding, type Findings, type ViolationName } from './findings.ts';
import type { RoundsDeps } from './round.ts';
import { copyObserved, verifyTables } from './verify.ts';

/** Damage to published events, and the violation that must be found. */
interface EventSabotage {
  /** Changes at least one event. */
  statement: string;
  foundAs: ViolationName;
}

/** Changes the type of the first event that matches. */
export const retype = (type: string, matching: string) =>
  `update events set type = '${type}' where (account_id, sequence) =
     (select account_id, sequence from events where ${matching} order by account_id, sequence limit 1)`;

/** Publishes an event for an order. */
export const append = (type: string, order: string, eventId = 'gen_random_uuid()') => `
  with chosen as (
    select o.account_id, o.receipt_id, o.source_order_id, o.order_id, e.event_id from orders o
    join events e on e.account_id = o.account_id and e.order_id = o.order_id and e.type = 'receipt.written'
    where ${order} limit 1
  ), counted as (
    update event_logs l set last_sequence = last_sequence + 1 from chosen where l.account_id = chosen.account_id returning last_sequence
  )
  insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
  select account_id, last_sequence, ${eventId}, '${type}', now(), receipt_id, source_order_id, order_id, '{}' from chosen, counted`;

/** Swaps the types of the first event of this type and the next one of its order, which is of the other type. */
const swap = (first: string, second: string) => `
  with pair as (
    select one.account_id, one.sequence as earlier, other.sequence as later
    from events one join events other
      on other.account_id = one.account_id and other.order_id = one.order_id and other.sequence > one.sequence
    where one.type = '${first}' and other.type = '${second}' and not exists (
      select from events e
      where e.account_id = one.account_id and e.order_id = one.order_id and e.sequence > one.sequence and e.sequence <> other.sequence)
    limit 1
  )
  update events e set type = case when e.sequence = pair.earlier then '${second}' else '${first}' end
  from pair where e.account_id = pair.account_id and e.sequence in (pair.earlier, pair.later)`;

export const EVENT_SABOTAGES = {
  'event-removed': {
    statement: 'delete from events where (account_id, sequence) = (select account_id, 7 from event_logs limit 1)',
    foundAs: 'event-gap',
  },
  'event-doubled': { statement: append('receipt.written', 'true', 'event_id'), foundAs: 'event-doubled' },
  'event-mistyped': {
    statement: retype('receipt.dead', "type = 'receipt.duplicate'"),
    foundAs: 'receipt-event-missing',
  },
  'event-invented': { statement: append('receipt.dead', 'true'), foundAs: 'receipt-event-unfounded' },
  'decision-mistyped': {
    statement: retype('order.edited', "type = 'order.confirmed'"),
    foundAs: 'order-event-missing',
  },
  'decision-invented': { statement: append('order.rejected', 'true'), foundAs: 'order-event-unfounded' },
  'confirmation-invented': {
    statement: append('order.confirmed', "o.review_state = 'needs_review'"),
    foundAs: 'confirmed-event-early',
  },
  'cancellation-mistyped': {
    statement: retype('order.edited', "type = 'order.cancelled'"),
    foundAs: 'cancellation-event-missing',
  },
  'cancellation-invented': {
    statement: append('order.cancelled', "o.review_state = 'needs_review'"),
    foundAs: 'cancellation-event-unfounded',
  },
  'events-swapped': { statement: swap('receipt.written', 'order.cancelled'), foundAs: 'event-out-of-order' },
  'state-mistyped': { statement: retype('order.rejected', "type = 'order.cancelled'"), foundAs: 'feed-state-differs' },
} as const satisfies Record<string, EventSabotage>;

export type EventSabotageKind = keyof typeof EVENT_SABOTAGES;

/** SQL: restores a table from its copy. */
const RESTORE = {
  events: 'delete from events; insert into events table undamaged_events',
  event_logs: `update event_logs l set last_sequence = u.last_sequence from undamaged_event_logs u where u.account_id = l.account_id`,
  endpoints: `update endpoints e set url = u.url, delivered_to = u.delivered_to
              from undamaged_endpoints u where u.endpoint_id = e.endpoint_id`,
};

/** Runs work that damages these tables, and restores them. A transaction that it left open is rolled back. */
export async function restoringAfter<Result>(
  client: pg.Client,
  tables: readonly (keyof typeof RESTORE)[],
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(tables.map((table) => `create table undamaged_${table} as table ${table}`).join(';'));
  try {
    return await work();
  } finally {
    await client.query('rollback');
    const copies = tables.map((table) => `undamaged_${table}`).join();
    await client.query(['begin', ...tables.map((table) => RESTORE[table]), `drop table ${copies}`, 'commit'].join(';'));
  }
}

const READ_TIMEOUT_MS = 10_000;

/**
 * Causes the damage, reads the feeds from the start as a new client, verifies, and restores the events.
 *
 * @returns the findings.
 */
export async function findEventSabotage(
  client: pg.Client,
  deps: RoundsDeps,
  kind: EventSabotageKind,
): Promise<Finding[]> {
  const { senders } = deps.context;
  return restoringAfter(client, ['events', 'event_logs'], async () => {
    const { rowCount } = await client.query(EVENT_SABOTAGES[kind].statement);
    if (!rowCount) throw new Error(`there was no event for "${kind}"`);
    const { events, findings } = await readFeeds(deps);
    await client.query('begin');
    await copyObserved(client, { ...deps, feeds: { senders, events, publishedBefore: null } });
    const found = await verifyTables(client);
    return [...findings.takeNew(), ...found];
  });
}

/** Reads all feeds from the start as a client. @returns what was read, and what was found in it. */
export async function readFeeds(deps: RoundsDeps): Promise<{ events: EventLedger; findings: Findings }> {
  const findings = createFindings();
  const events = createEventLedger(findings);
  const reader = deps.follower.createReader(events, findings);
  for (const sender of deps.context.senders.filter(({ hasEvents }) => hasEvents)) {
    if (!(await reader.readToEnd(sender, 0, Date.now() + READ_TIMEOUT_MS))) {
      throw new Error(`the feed of account ${sender.accountId} could not be read`);
    }
  }
  return { events, findings };
}
