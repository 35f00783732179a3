import type { Database } from '@orders/database/connect.ts';
import {
  LISTED_COLUMNS,
  type ListedOrder,
  type ListedRow,
  orderRow,
  toListed,
} from '@orders/database/orders/order-rows.ts';
import { run } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { eventsOfAccount } from './read-decisions.ts';

/** An order that somebody confirmed, rejected, reopened or whose decision was undone, with its current state. */
export interface ChangedOrder {
  order_id: number;
  review_state: ReviewState;
  by: string;
  at: Date;
}

/** What happened to orders of an account since a time. */
export interface OrderUpdates {
  changed: ChangedOrder[];
  /** Ids of orders with other new content: edits, notes, changed deliveries, decisions about changed deliveries and erasures. Newest first. */
  editedIds: number[];
  /** Whether there is more than was read, as after more than a quarter of an hour. */
  more: boolean;
  /** The time of this read by the clock of Postgres, in milliseconds: the next `since`. */
  now: number;
}

/** Events are read again for this time, as they commit in another order than that of their times. */
const LATE_MS = 10_000;
/** Later events were certainly not returned by the request before. */
const SETTLE_MS = 2000;

/** Who is further behind loads the list again, which costs less than all that happened meanwhile. */
const MAX_BEHIND_MS = 15 * 60_000;

const MAX_CHANGED = 1000;
const MAX_CHANGED_DELIVERIES = 500;
export const MAX_EDITED = 50;
/** Max events read: few at first, as nearly all requests find few. */
const EVENT_LIMITS = [100, 2500] as const;

const DECISIONS = new Set([
  'order_confirmed',
  'order_rejected',
  'order_reopened',
  'order_review_undone',
  'order_cancelled',
]);
const EDITS = new Set([
  'order_edited',
  'order_annotated',
  'order_snoozed',
  'order_snooze_ended',
  'order_erased',
  'resend_accepted',
  'resend_refused',
  'order_cancel_requested',
  'cancel_request_closed',
  'cancel_request_reopened',
]);

interface EventRow {
  /** Null if it is about something else. */
  order_id: number | null;
  action: string;
  by: string;
  at: Date;
}

// By id and not by time, which has no index per account; both grow together.
const EVENTS = {
  name: 'newest-events-of-account',
  text: `
select order_id, action, actor as by, at from (
  ${eventsOfAccount('order_id, action, actor, at, event_id', 'desc')} limit $3::int
) as newest
where at > $2::timestamptz
order by event_id desc`,
};

const CHANGED_DELIVERIES = {
  name: 'newest-changed-deliveries-of-account',
  text: `
select order_id, stored_at as at from changed_deliveries
where account_id = $1::int and changes is not null and stored_at > $2::timestamptz
order by stored_at desc limit ${MAX_CHANGED_DELIVERIES}`,
};

const STATES = {
  name: 'find-review-states',
  text: `
select o.order_id, o.review_state, o.reviewed_by, o.reviewed_at
from unnest($2::bigint[]) as wanted(order_id) cross join lateral (${orderRow('$1::int', 'wanted.order_id')}) as o`,
};

const CLOCK = { name: 'read-clock', text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now' };

/** @param since the `now` of the call before; null for the first one, which gets what happened in the last ten seconds. */
export async function listUpdates(database: Database, accountId: number, since: number | null): Promise<OrderUpdates> {
  const [clock] = await run<{ now: number }>(database, CLOCK, []);
  const now = clock?.now ?? 0;
  if (since !== null && now - since > MAX_BEHIND_MS) return { changed: [], editedIds: [], more: true, now };
  const from = new Date((since ?? now) - LATE_MS);
  const events = await newestEvents(database, accountId, from);
  const resends = await run<{ order_id: number; at: Date }>(database, CHANGED_DELIVERIES, [accountId, from]);

  const decided = newestByOrder(events.filter(({ action }) => DECISIONS.has(action)));
  const edited = newestByOrder(events.filter(({ action }) => EDITS.has(action)));
  for (const { order_id, at } of resends) edited.set(order_id, { at: later(edited.get(order_id)?.at, at) });
  const isNew = ({ at }: { at: Date }) => at.getTime() > (since ?? now) - SETTLE_MS;
  const countNew = (orders: ReadonlyMap<number, { at: Date }>) => [...orders.values()].filter(isNew).length;
  const more =
    (events.length === EVENT_LIMITS[1] && events.every(isNew)) ||
    countNew(decided) > MAX_CHANGED ||
    countNew(edited) > MAX_EDITED;
  return {
    changed: await withStates(database, accountId, decided),
    editedIds: [...edited].toSorted(([, a], [, b]) => b.at.getTime() - a.at.getTime()).map(([id]) => id),
    more,
    now,
  };
}

async function newestEvents(database: Database, accountId: number, from: Date): Promise<EventRow[]> {
  for (const limit of EVENT_LIMITS) {
    const events = await run<EventRow>(database, EVENTS, [accountId, from, limit]);
    if (events.length < limit || limit === EVENT_LIMITS[1]) return events;
  }
  return [];
}

/** @param events newest first. */
function newestByOrder(events: readonly EventRow[]): Map<number, { at: Date; by?: string }> {
  const newest = new Map<number, EventRow>();
  for (const event of events) {
    if (event.order_id !== null && !newest.has(event.order_id)) newest.set(event.order_id, event);
  }
  return newest;
}

function later(a: Date | undefined, b: Date): Date {
  return a && a > b ? a : b;
}

async function withStates(
  database: Database,
  accountId: number,
  decided: ReadonlyMap<number, { at: Date; by?: string }>,
): Promise<ChangedOrder[]> {
  if (decided.size === 0) return [];
  const rows = await run<{
    order_id: number;
    review_state: ReviewState;
    reviewed_by: string | null;
    reviewed_at: Date | null;
  }>(database, STATES, [accountId, [...decided.keys()].slice(0, MAX_CHANGED)]);
  return rows.map(({ order_id, review_state, reviewed_by, reviewed_at }) => {
    const event = decided.get(order_id);
    // An undone decision leaves no reviewer, so that of the undo is named.
    return {
      order_id,
      review_state,
      by: reviewed_by ?? event?.by ?? '',
      at: reviewed_at ?? event?.at ?? new Date(0),
    };
  });
}

const LISTED = {
  name: 'list-orders-by-id',
  text: `
select ${LISTED_COLUMNS}
from unnest($2::bigint[]) with ordinality as wanted(order_id, ordinal)
cross join lateral (${orderRow('$1::int', 'wanted.order_id')}) as o
where o.review_state = $3::text or o.order_id = $4::bigint
order by wanted.ordinal limit ${MAX_EDITED}`,
};

/** The first 50 of these orders that are in a state, or open. */
export async function listById(
  database: Database,
  {
    accountId,
    orderIds,
    state,
    open,
  }: { accountId: number; orderIds: number[]; state: ReviewState; open: number | null },
): Promise<ListedOrder[]> {
  if (orderIds.length === 0) return [];
  const rows = await run<ListedRow>(database, LISTED, [accountId, orderIds, state, open]);
  return rows.map(toListed);
}
