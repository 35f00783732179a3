import type { Database } from '@orders/database/connect.ts';
import { PUBLISH_LOCK, run } from '@orders/database/run.ts';

const PUBLISH = {
  name: 'publish-events',
  // A confirmation is published once dispatchable_orders shows it: dispatch_limit is the same transaction id as in the view. Each account gets at
  // most $1 events a round, so that one with many does not delay the others, and all accounts $2, so that the statement ends in time. A
  // round begins with the account after $3, so that the accounts which the round before did not reach come first. A statement whose snapshot
  // is older than another publisher's commit finds the rows deleted, so none is published twice.
  text: `
with publisher as materialized (
  select where pg_try_advisory_xact_lock(${PUBLISH_LOCK})
), dispatch_limit as materialized (
  select least(pg_snapshot_xmin(pg_current_snapshot()),
               (select min(confirmed_xid) from (
                 select confirmed_xid from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds' offset 0
               ) as recent)) as xid
), logs as materialized (
  select account_id from event_logs order by account_id <= $3::int, account_id
), due as materialized (
  select u.ctid from publisher
  cross join logs l
  cross join lateral (
    select ctid from unpublished_events
    where account_id = l.account_id and due_at <= now() and (confirmed_xid is null or confirmed_xid < (select xid from dispatch_limit))
    order by due_at, event_number limit $1::int
    for update
  ) as u
  limit $2::int
), taken as (
  -- By ctid, so that what is not due is not read, whatever plan is chosen. The rows are locked, so an erasure cannot move one to another ctid.
  delete from unpublished_events u where u.ctid = any(array(select ctid from due))
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
       (select account_id from counted order by account_id <= $3::int desc, account_id desc limit 1) as "lastAccountId"
from counted`,
};

/** What a round has published. */
export interface PublishedRound {
  count: number;
  /** Whether there may be more that are due. */
  hasMore: boolean;
  /** The last account that the round reached; null if it published nothing. */
  lastAccountId: number | null;
}

/**
 * Publishes events that are due: gives each the next sequence of its account. The events and the account's counter are committed together,
 * under the lock of the counter's row, so a lower sequence never becomes visible after a higher one. Does nothing while another process
 * publishes.
 *
 * @param limits max events of each account, and of all.
 * @param after the account after which the round begins.
 */
export async function publishEvents(
  database: Database,
  limits: { perAccount: number; total: number },
  after: number,
): Promise<PublishedRound> {
  const [row] = await run<PublishedRound>(database, PUBLISH, [limits.perAccount, limits.total, after]);
  return row as PublishedRound;
}
