import type { ViolationName } from './findings.ts';

/** Damage, and the violation that must be found. */
interface Sabotage {
  /** The last one changes a row. */
  statements: string[];
  foundAs: ViolationName;
  /** Who finds it: the rules of the verification, or also a client that reads the feeds, or also the endpoints. */
  by: 'rules' | 'feeds' | 'endpoints';
}

const foundBy =
  (by: Sabotage['by']) =>
  (foundAs: ViolationName, ...statements: string[]): Sabotage => ({ statements, foundAs, by });
/** Damage to stored data, which is not committed; it changes one row. */
const stored = foundBy('rules');
/** Damage to published events. */
const told = foundBy('feeds');
/** Damage to events that were delivered, or to the endpoints. */
const delivered = foundBy('endpoints');

const A_DUPLICATE = `(select a.receipt_id from accepted a join receipts r using (receipt_id) where r.state = 'duplicate' limit 1)`;
const A_CANCELLED = `(select order_id from cancellations where outcome = 'cancelled' limit 1)`;

/** Changes the type of the first event that matches. */
const retype = (type: string, matching: string) =>
  `update events set type = '${type}' where (account_id, sequence) =
     (select account_id, sequence from events where ${matching} order by account_id, sequence limit 1)`;

/** Publishes an event for an order. */
const append = (type: string, order: string, eventId = 'gen_random_uuid()') => `
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

export const SABOTAGES = {
  'order-removed': stored(
    'order-missing',
    `delete from orders where (account_id, order_id) =
         (select o.account_id, o.order_id from orders o join accepted a using (account_id, source_order_id) limit 1)`,
  ),
  'key-removed': stored(
    'key-and-order-differ',
    'delete from order_keys where order_id = (select order_id from orders limit 1)',
  ),
  'order-doubled': stored(
    'order-doubled',
    `insert into orders select again.*
       from (select o from orders o limit 1) as one,
            jsonb_populate_record(one.o, jsonb_build_object('order_id', nextval('order_ids'))) as again`,
  ),
  'duplicate-misdirected': stored(
    'duplicate-misdirected',
    `update orders o set receipt_id = (select x.receipt_id from orders x where x.receipt_id <> o.receipt_id limit 1)
       where (o.account_id, o.source_order_id) =
         (select r.account_id, r.source_order_id from receipts r where r.receipt_id = ${A_DUPLICATE})`,
  ),
  'receipt-stuck': stored('receipt-stuck', `update receipts set state = 'received' where receipt_id = ${A_DUPLICATE}`),
  'receipt-missing': stored('receipt-missing', `delete from receipts where receipt_id = ${A_DUPLICATE}`),
  'confirmed-behind-cursor': stored(
    'dispatch-missed',
    `with confirmed as (
       update orders set review_state = 'confirmed', reviewed_at = now()
       where order_id = (select order_id from orders where review_state = 'needs_review' limit 1) returning order_id, account_id
     )
     insert into dispatch_log select 0, order_id, account_id, false from confirmed`,
  ),
  'confirmed-again': stored(
    'dispatched-twice',
    `update dispatch_log set position = -position where not is_cancellation and order_id = (select order_id from dispatched limit 1)`,
  ),
  'cancellation-undone': stored(
    'cancellation-lost',
    `update orders set review_state = 'needs_review', reviewed_by = null, reviewed_at = null where order_id = ${A_CANCELLED}`,
  ),
  'cancelled-confirmed': stored(
    'cancellation-lost',
    `update orders set review_state = 'confirmed', reviewed_at = now()
       where order_id = ${A_CANCELLED}`,
  ),
  'held-cancellation-removed': stored(
    'held-cancellation-lost',
    `delete from order_keys where (account_id, source_order_id) =
         (select account_id, source_order_id from order_keys where order_id is null limit 1)`,
  ),
  'request-removed': stored(
    'request-missing',
    'delete from cancellation_requests where order_id = (select order_id from cancellation_requests limit 1)',
  ),
  'request-behind-cursor': stored(
    'request-missed',
    `insert into cancellation_requests (account_id, order_id, position, requested_by)
       select account_id, order_id, 0, 'key:faults' from orders join dispatched using (order_id)
       where order_id not in (select order_id from cancellation_requests) limit 1`,
  ),
  'cancelled-by-nobody': stored(
    'cancelled-by-nobody',
    `update orders set review_state = 'cancelled', reviewed_by = 'key:faults', reviewed_at = now()
       where order_id = (
         select o.order_id from orders o left join cancellations c using (account_id, source_order_id)
         where review_state = 'needs_review' and c.account_id is null limit 1)`,
  ),
  'event-unpublished': stored(
    'event-unpublished',
    `insert into unpublished_events (account_id, due_at, type, receipt_id, source_order_id)
       select account_id, now() - interval '1 hour', type, receipt_id, source_order_id from events limit 1`,
  ),
  'event-not-enabled': stored(
    'event-not-enabled',
    `insert into events
       select a.account_id, e.sequence, gen_random_uuid(), e.type, e.happened_at, e.receipt_id, e.source_order_id, e.order_id, e.details
       from events e cross join accounts a where a.account_id not in (select account_id from event_logs) limit 1`,
  ),
  'delivery-skipped': delivered(
    'delivery-missing',
    append('receipt.written', 'true'),
    `update endpoints e set delivered_to = l.last_sequence from event_logs l
       where l.account_id = e.account_id and e.delivered_to < l.last_sequence`,
  ),
  'delivery-changed': delivered('delivery-differs', retype('order.edited', "type = 'receipt.written'")),
  'delivery-invented': delivered(
    'delivery-unfounded',
    `update events set event_id = gen_random_uuid() where (account_id, sequence) =
         (select account_id, sequence from events order by account_id, sequence limit 1)`,
  ),
  'delivery-misdirected': delivered(
    'delivery-signature-invalid',
    append('receipt.written', 'true'),
    'update endpoints e set url = o.url from endpoints o where o.account_id <> e.account_id',
  ),
  // Those of events come last: notifiers deliver the events that they invent.
  'event-removed': told(
    'event-gap',
    'delete from events where (account_id, sequence) = (select account_id, 7 from event_logs limit 1)',
  ),
  'event-doubled': told('event-doubled', append('receipt.written', 'true', 'event_id')),
  'event-mistyped': told('receipt-event-missing', retype('receipt.dead', "type = 'receipt.duplicate'")),
  'event-invented': told('receipt-event-unfounded', append('receipt.dead', 'true')),
  'decision-mistyped': told('order-event-missing', retype('order.edited', "type = 'order.confirmed'")),
  'decision-invented': told('order-event-unfounded', append('order.rejected', 'true')),
  'confirmation-invented': told('confirmed-event-early', append('order.confirmed', "o.review_state = 'needs_review'")),
  'cancellation-mistyped': told('cancellation-event-missing', retype('order.edited', "type = 'order.cancelled'")),
  'cancellation-invented': told(
    'cancellation-event-unfounded',
    append('order.cancelled', "o.review_state = 'needs_review'"),
  ),
  'events-swapped': told('event-out-of-order', swap('receipt.written', 'order.cancelled')),
  'state-mistyped': told('feed-state-differs', retype('order.rejected', "type = 'order.cancelled'")),
} satisfies Record<string, Sabotage>;

export type SabotageKind = keyof typeof SABOTAGES;
