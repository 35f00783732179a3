import type { Database } from '@orders/database/connect.ts';
import { dueFrom, type LowerBound, NO_LOWER_BOUND, rememberLowerBound } from '@orders/database/lower-bound.ts';
import { PUBLISH_LOCK, run } from '@orders/database/run.ts';
import { dispatchOrders, LATE_SECONDS } from './dispatch-orders.ts';
import type { WorkerMetrics } from './metrics.ts';

const IS_DUE = `due_at <= now() and ${dueFrom('$4')}`;

const PUBLISH = {
  name: 'publish-events',
  // Each account gets at most $1 events a round, so that one with many does not delay the others, and all accounts $2, so that the
  // statement ends in time. A round begins with the account after $3, so that the accounts which the round before did not reach come first.
  // A statement whose snapshot is older than another publisher's commit finds the rows deleted, so none is published twice. Waits for no row: an account has to wait
  // while others lock its counter, and at an event that they lock, as no later one may get a lower sequence.
  text: `
with publisher as materialized (
  select where pg_try_advisory_xact_lock(${PUBLISH_LOCK})
), logs as materialized (
  select account_id from event_logs order by account_id <= $3::int, account_id
), due as materialized (
  select u.* from publisher
  cross join logs l
  cross join lateral (
    select account_id, due_at, event_number, ctid as row_id from unpublished_events
    where account_id = l.account_id and ${IS_DUE}
    order by due_at, event_number limit $1::int
    for update skip locked
  ) as u
  limit $2::int
), counters as materialized (
  select account_id from event_logs where account_id = any(array(select account_id from due)) for update skip locked
), first_left as materialized (
  select u.* from counters c
  cross join lateral (
    select account_id, due_at, event_number from unpublished_events
    where account_id = c.account_id and ${IS_DUE} and ctid not in (select row_id from due)
    order by due_at, event_number limit 1
  ) as u
), taken as (
  -- By ctid, so that what is not due is not read, whatever plan is chosen. The rows are locked, so an erasure cannot move one to another ctid.
  delete from unpublished_events u where u.ctid = any(array(
    select row_id from due d join counters using (account_id) left join first_left l using (account_id)
    where l.account_id is null or (d.due_at, d.event_number) < (l.due_at, l.event_number)
  ))
  returning u.*
), counted as (
  update event_logs l set last_sequence = l.last_sequence + t.count
  from (select account_id, count(*) as count from taken group by account_id) as t
  where l.account_id = t.account_id
  returning l.account_id, l.last_sequence - t.count as sequence_before, t.count
), published as (
  insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
  select account_id, c.sequence_before + row_number() over (partition by account_id order by t.due_at, t.event_number),
         t.event_id, t.type, t.due_at, t.receipt_id, t.source_order_id, t.order_id,
         case when t.type = 'receipt.written' then jsonb_build_object('warnings', event_warnings(coalesce(r.warnings, '[]'))) else t.details end
  from taken t join counted c using (account_id)
  left join lateral (
    select warnings from receipts
    where t.type = 'receipt.written' and receipt_id = t.receipt_id and account_id = t.account_id
    offset 0
  ) as r on true
)
select coalesce(sum(count), 0)::int as count, coalesce(max(count) = $1::int or sum(count) = $2::int, false) as "hasMore",
       (select account_id from due order by account_id <= $3::int desc, account_id desc limit 1) as "lastAccountId",
       (select least(now() - interval '${LATE_SECONDS} seconds', min(due_at))::text from publisher left join (
          select due_at from first_left union all select due_at from due where account_id not in (select account_id from counters)
        ) as left_over on true
        having count(*) > 0) as "emptyBefore"
from counted`,
};

/** What a round has published. */
export interface PublishedRound {
  count: number;
  /** Whether there may be more that are due. */
  hasMore: boolean;
  /** The last account that the round reached; null if it found nothing. */
  lastAccountId: number | null;
}

/**
 * Publishes events that are due: gives each the next sequence of its account. The events and the account's counter are committed together,
 * under the lock of the counter's row, so a lower sequence never becomes visible after a higher one. Does nothing while another process
 * publishes.
 *
 * @param limits max events of each account, and of all.
 * @param after the account after which the round begins.
 * @param bound of `unpublished_events`.
 */
export async function publishEvents(
  database: Database,
  limits: { perAccount: number; total: number },
  after: number,
  bound: LowerBound = NO_LOWER_BOUND,
): Promise<PublishedRound> {
  type Row = PublishedRound & { emptyBefore: string | null };
  const parameters = [limits.perAccount, limits.total, after, bound.next()];
  const [{ emptyBefore, ...round }] = (await run<Row>(database, PUBLISH, parameters)) as [Row];
  if (!round.hasMore) bound.move(emptyBefore);
  return round;
}

/** Interval between rounds in milliseconds; the largest part of the time until an event can be read. */
export const PUBLISH_INTERVAL_MS = 200;
/** One in so many rounds looks for rows that appeared late. */
const ROUNDS_PER_FULL = 25;
/** Max events of one round: of each account, so that none delays the others, and of all, so that a round ends in time. */
const LIMITS = { perAccount: 500, total: 2000 };
/** After a round that failed, the limits are divided: its events may be so large that the statement takes too long. */
const MAX_DIVISOR = LIMITS.total;

/** Dispatches orders and publishes events until none is due. Another worker may do it at the same time; then this one does nothing. */
export function createPublisher(
  database: Database,
  metrics: Pick<WorkerMetrics, 'publishedEvents'>,
): (stopping: AbortSignal) => Promise<void> {
  let after = 0;
  let divisor = 1;
  const undispatched = rememberLowerBound(ROUNDS_PER_FULL);
  const unpublished = rememberLowerBound(ROUNDS_PER_FULL);

  async function publishRound(): Promise<boolean> {
    const dispatched = await dispatchOrders(database, undefined, undispatched);
    const limits = {
      perAccount: Math.ceil(LIMITS.perAccount / divisor),
      total: Math.ceil(LIMITS.total / divisor),
    };
    try {
      const { count, hasMore, lastAccountId } = await publishEvents(database, limits, after, unpublished);
      metrics.publishedEvents.inc(count);
      after = lastAccountId ?? after;
      divisor = Math.max(divisor / 2, 1);
      return hasMore || dispatched.hasMore;
    } catch (error) {
      divisor = Math.min(divisor * 4, MAX_DIVISOR);
      throw error;
    }
  }

  return async (stopping) => {
    let hasMore: boolean;
    do hasMore = await publishRound();
    while (hasMore && !stopping.aborted);
  };
}
