import type pg from 'pg';
import { DELIVERY_SABOTAGES, type DeliverySabotageKind, findDeliverySabotage } from './delivery-sabotage.ts';
import { EVENT_SABOTAGES, type EventSabotageKind, findEventSabotage } from './event-sabotage.ts';
import type { Finding, ViolationName } from './findings.ts';
import { feedsOf, type RoundsDeps } from './round.ts';
import { copyObserved, verifyTables } from './verify.ts';

/** Damage to stored data, and the violation that must be found. */
interface Sabotage {
  /** The last statement changes one row. */
  statements: string[];
  foundAs: ViolationName;
}

const A_DUPLICATE = `(select a.receipt_id from accepted a join receipts r using (receipt_id) where r.state = 'duplicate' limit 1)`;

const A_CANCELLED = `(select order_id from cancellations where outcome = 'cancelled' limit 1)`;

const STORED_DATA = {
  'order-removed': {
    statements: [
      `delete from orders where (account_id, order_id) =
         (select o.account_id, o.order_id from orders o join accepted a using (account_id, source_order_id)
          where o.review_state <> 'cancellation_held' limit 1)`,
    ],
    foundAs: 'order-missing',
  },
  'order-doubled': {
    statements: [
      'alter table orders drop constraint orders_account_id_source_order_id_key',
      `insert into orders select again.*
       from (select o from orders o limit 1) as one,
            jsonb_populate_record(one.o, jsonb_build_object('order_id', nextval('order_ids'))) as again`,
    ],
    foundAs: 'order-doubled',
  },
  'duplicate-misdirected': {
    statements: [
      `update orders o set receipt_id = (select x.receipt_id from orders x where x.receipt_id <> o.receipt_id limit 1)
       where (o.account_id, o.source_order_id) =
         (select r.account_id, r.source_order_id from receipts r where r.receipt_id = ${A_DUPLICATE})`,
    ],
    foundAs: 'duplicate-misdirected',
  },
  'receipt-stuck': {
    statements: [`update receipts set state = 'received' where receipt_id = ${A_DUPLICATE}`],
    foundAs: 'receipt-stuck',
  },
  'receipt-missing': {
    statements: [`delete from receipts where receipt_id = ${A_DUPLICATE}`],
    foundAs: 'receipt-missing',
  },
  'confirmed-behind-cursor': {
    statements: [
      `update orders set review_state = 'confirmed', confirmed_xid = '1', reviewed_at = now() - interval '1 hour'
       where order_id = (select order_id from orders where review_state = 'needs_review' limit 1)`,
    ],
    foundAs: 'dispatch-missed',
  },
  'confirmed-again': {
    statements: [
      `update orders set confirmed_xid = pg_current_xact_id() where order_id = (select order_id from dispatched limit 1)`,
    ],
    foundAs: 'dispatched-twice',
  },
  'cancellation-undone': {
    statements: [
      `update orders set review_state = 'needs_review', reviewed_by = null, reviewed_at = null where order_id = ${A_CANCELLED}`,
    ],
    foundAs: 'cancellation-lost',
  },
  'cancelled-confirmed': {
    statements: [
      `update orders set review_state = 'confirmed', confirmed_xid = pg_current_xact_id(), reviewed_at = now()
       where order_id = ${A_CANCELLED}`,
    ],
    foundAs: 'cancellation-lost',
  },
  'held-cancellation-removed': {
    statements: [
      `delete from orders where order_id = (select order_id from orders where review_state = 'cancellation_held' limit 1)`,
    ],
    foundAs: 'held-cancellation-lost',
  },
  'request-removed': {
    statements: [
      'delete from cancellation_requests where order_id = (select order_id from cancellation_requests limit 1)',
    ],
    foundAs: 'request-missing',
  },
  'request-behind-cursor': {
    statements: [
      `insert into cancellation_requests (account_id, order_id, request_xid, requested_by)
       select account_id, order_id, '1', 'key:faults' from orders join dispatched using (order_id)
       where order_id not in (select order_id from cancellation_requests) limit 1`,
    ],
    foundAs: 'request-missed',
  },
  'cancelled-by-nobody': {
    statements: [
      `update orders set review_state = 'cancelled', reviewed_by = 'key:faults', reviewed_at = now()
       where order_id = (
         select o.order_id from orders o left join cancellations c using (account_id, source_order_id)
         where review_state = 'needs_review' and c.account_id is null limit 1)`,
    ],
    foundAs: 'cancelled-by-nobody',
  },
  'event-unpublished': {
    statements: [
      `insert into unpublished_events (account_id, due_at, type, receipt_id, source_order_id)
       select account_id, now() - interval '1 hour', type, receipt_id, source_order_id from events limit 1`,
    ],
    foundAs: 'event-unpublished',
  },
  'event-not-enabled': {
    statements: [
      `insert into events
       select a.account_id, e.sequence, gen_random_uuid(), e.type, e.happened_at, e.receipt_id, e.source_order_id, e.order_id, e.details
       from events e cross join accounts a where a.account_id not in (select account_id from event_logs) limit 1`,
    ],
    foundAs: 'event-not-enabled',
  },
} as const satisfies Record<string, Sabotage>;

/** Those of events come last: notifiers deliver the events that they invent. */
export const SABOTAGES = { ...STORED_DATA, ...DELIVERY_SABOTAGES, ...EVENT_SABOTAGES };

export type SabotageKind = keyof typeof SABOTAGES;

/** Causes the damage, verifies, and takes it back. @returns the findings. */
export function findSabotage(client: pg.Client, deps: RoundsDeps, kind: SabotageKind): Promise<Finding[]> {
  if (kind in DELIVERY_SABOTAGES) return findDeliverySabotage(client, deps, kind as DeliverySabotageKind);
  return kind in EVENT_SABOTAGES
    ? findEventSabotage(client, deps, kind as EventSabotageKind)
    : findInTransaction(client, deps, kind as keyof typeof STORED_DATA);
}

async function findInTransaction(
  client: pg.Client,
  deps: RoundsDeps,
  kind: keyof typeof STORED_DATA,
): Promise<Finding[]> {
  const feeds = feedsOf(deps, null);
  await client.query('begin');
  try {
    await copyObserved(client, { ...deps, feeds });
    let changed: number | null = 0;
    for (const statement of STORED_DATA[kind].statements) changed = (await client.query(statement)).rowCount;
    if (changed !== 1) throw new Error(`there was no row for "${kind}"`);
    return await verifyTables(client);
  } finally {
    await client.query('rollback');
  }
}
