import { orderRow } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { type Money, moneyOf } from './read-waiting.ts';

/**
 * SQL: audit events of account $1 from an id, in an order that only the index by account has. With a plain condition on the account, Postgres
 * can choose the index by id and read the events of all accounts.
 */
export const eventsOfAccount = (columns: string, direction: 'asc' | 'desc', fromId = '0') => `
  select ${columns} from audit_events
  where (account_id, event_id) >= ($1::int, ${fromId}) and (account_id, event_id) <= ($1::int, ${Number.MAX_SAFE_INTEGER})
  order by account_id ${direction}, event_id ${direction}`;

/** Confirmations and rejections of an account that were not undone. Days and hours are those of a time zone. */
export interface Decisions {
  confirmed: {
    /** In the last 60 minutes. */
    last_hour: number;
    today: number;
    /** Of the last 24 hours, including the current one, oldest first. */
    per_hour: { at: Date; count: number }[];
    /** The largest sum first. */
    money_today: Money[];
    /** Whether there were too many events to read: all numbers are of the newest decisions. */
    capped: boolean;
  };
  rejected: { today: number };
}

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Max newest audit events read. A parameter of the statement, like the limit of `countNeedingReview`. */
const MAX_EVENTS = 10_000;
/** Events commit in another order than that of their times, by less than this. */
const SLACK_MS = 60_000;

const CLOCK = {
  name: 'read-hours-and-day',
  text: `
select now() as now, date_trunc('day', now(), $1::text) as midnight,
       date_trunc('hour', now(), $1::text) - interval '${HOURS - 1} hours' as first_hour`,
};

const FIRST_EVENT = {
  name: 'first-audit-event-since',
  // Binary search over ids, at most 63 steps, as in `findFirstSince`: the time has no index but grows with the id.
  text: `
with recursive halves(low, high) as (
  select (${eventsOfAccount('event_id', 'asc')} limit 1), (${eventsOfAccount('event_id + 1', 'desc')} limit 1)
  union all
  select case when middle.at < $2::timestamptz then middle.event_id + 1 else low end,
         case when middle.at < $2::timestamptz then high else (low + high) / 2 end
  from halves
  left join lateral (${eventsOfAccount('event_id, at', 'asc', '(low + high) / 2')} limit 1) as middle on true
  where low < high
)
select low as event_id from halves where low = high`,
};

const DECISIONS = {
  name: 'sum-decisions',
  // Of an order decided twice or undone, only its current state counts.
  text: `
with events as materialized (
  ${eventsOfAccount('order_id, action', 'desc', '$2::bigint')} limit $3::int
), decided as materialized (
  select distinct order_id from events where action in ('order_confirmed', 'order_rejected')
), found as (
  select o.review_state = 'confirmed' as is_confirmed, o.reviewed_at >= $5::timestamptz as is_today,
         o.reviewed_at > $6::timestamptz as is_last_hour, o.currency, o.total,
         date_bin('1 hour', o.reviewed_at, $4::timestamptz) as hour
  from decided cross join lateral (${orderRow('$1::int', 'decided.order_id')}) as o
  where o.review_state in ('confirmed', 'rejected') and o.reviewed_at >= least($4::timestamptz, $5::timestamptz)
)
select hour, currency, (select count(*) from events) as events,
       count(*) filter (where is_confirmed) as confirmed,
       count(*) filter (where is_confirmed and is_last_hour) as last_hour,
       count(*) filter (where is_confirmed and is_today) as confirmed_today,
       count(*) filter (where not is_confirmed and is_today) as rejected_today,
       sum(total) filter (where is_confirmed and is_today) as total
from found
group by grouping sets ((hour), (currency), ())
order by total desc nulls last, currency`,
};

interface SumRow {
  hour: Date | null;
  currency: string | null;
  events: number;
  confirmed: number;
  last_hour: number;
  confirmed_today: number;
  rejected_today: number;
  total: string | null;
}

/**
 * @param timeZone an IANA name.
 * @throws {pg.DatabaseError} of class 22 if Postgres does not know the time zone.
 */
export async function readDecisions(connection: Connection, accountId: number, timeZone: string): Promise<Decisions> {
  type Clock = { now: Date; midnight: Date; first_hour: Date };
  const [clock] = (await run<Clock>(connection, CLOCK, [timeZone])) as [Clock];
  const hourAgo = new Date(clock.now.getTime() - HOUR_MS);
  const since = new Date(Math.min(clock.first_hour.getTime(), clock.midnight.getTime()) - SLACK_MS);
  const [first] = await run<{ event_id: number }>(connection, FIRST_EVENT, [accountId, since]);
  const values = [accountId, first?.event_id ?? Number.MAX_SAFE_INTEGER, MAX_EVENTS];
  const rows = await run<SumRow>(connection, DECISIONS, [...values, clock.first_hour, clock.midnight, hourAgo]);
  const sum = rows.find(({ hour, currency }) => hour === null && currency === null);
  const countAt = new Map(rows.map(({ hour, confirmed }) => [hour?.getTime(), confirmed]));
  const hours = Array.from({ length: HOURS }, (_, index) => clock.first_hour.getTime() + index * HOUR_MS);
  return {
    confirmed: {
      last_hour: sum?.last_hour ?? 0,
      today: sum?.confirmed_today ?? 0,
      per_hour: hours.map((at) => ({ at: new Date(at), count: countAt.get(at) ?? 0 })),
      money_today: moneyOf(rows),
      capped: sum?.events === MAX_EVENTS,
    },
    rejected: { today: sum?.rejected_today ?? 0 },
  };
}
