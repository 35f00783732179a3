import { UNATTENDED_ACCOUNTS } from '@orders/database/accounts/test-accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { dueFrom, type LowerBound, NO_LOWER_BOUND } from '@orders/database/lower-bound.ts';
import { run } from '@orders/database/run.ts';

/** What delays dispatching and vacuum, and what waits for a person, in seconds; 0 if nothing does. */
export interface Stalls {
  /** Age of the oldest transaction with a transaction id, including prepared ones; null without `pg_read_all_stats`. */
  oldestWritingSeconds: number | null;
  /** Age of the oldest transaction with a snapshot and without a transaction id; null without `pg_read_all_stats`. */
  oldestReadingSeconds: number | null;
  /** For how long the oldest confirmed order that is not in `dispatchable_orders` has been due. */
  dispatchDelaySeconds: number;
  /** Age of the oldest cancellation request that nobody has closed. */
  oldestCancellationRequestSeconds: number;
  /** For how long the oldest event that is not published has been due. */
  oldestUnpublishedEventSeconds: number;
  /** Age of the oldest event that an enabled endpoint which is not failing was not tried with. */
  oldestUndeliveredEventSeconds: number;
  /** Age of the oldest audit event without a position in the chain. */
  oldestUnchainedAuditEventSeconds: number;
  enabledEndpoints: number;
  /** Enabled endpoints without a success since an attempt failed. */
  failingEndpoints: number;
}

/** A row is in a queue this long after it was due, if it is committed late. */
const LATE_SECONDS = 5;

const AGE = (oldest: string) => `greatest(0, coalesce(extract(epoch from clock_timestamp() - ${oldest}), 0))::float8`;

/** Rows of the queues that a read can pass over: see `LowerBound`. */
const IS_LEFT = dueFrom('$1');

const READ = {
  name: 'read-stalls',
  // Without pg_read_all_stats, pg_stat_activity hides when transactions of other roles began, so the minimum would only cover our own.
  text: `
select case when sees_all then (
  select ${AGE('min(began)')} from (
    select xact_start from pg_stat_activity where backend_xid is not null
    union all select prepared from pg_prepared_xacts
  ) as writing(began)
) end as "oldestWritingSeconds", case when sees_all then (
  select ${AGE('min(xact_start)')} from pg_stat_activity
  where backend_xid is null and backend_xmin is not null and backend_type = 'client backend' and pid <> pg_backend_pid()
) end as "oldestReadingSeconds", (
  select ${AGE('min(due_at)')} from (
    select due_at from undispatched_orders where ${IS_LEFT} order by due_at limit 1
  ) as oldest
) as "dispatchDelaySeconds", (
  select ${AGE('min(requested_at)')} from (
    select requested_at from cancellation_requests
    where closed_at is null and account_id not in (${UNATTENDED_ACCOUNTS}) order by requested_at limit 1
  ) as open
) as "oldestCancellationRequestSeconds", (
  select ${AGE('min(oldest.due_at)')} from event_logs l
  cross join lateral (
    select due_at from unpublished_events where account_id = l.account_id and ${IS_LEFT} order by due_at limit 1
  ) as oldest
) as "oldestUnpublishedEventSeconds", (
  select ${AGE('min(next.happened_at)')} from endpoints e
  cross join lateral (
    select happened_at from events where account_id = e.account_id and sequence > e.delivered_to order by sequence limit 1
  ) as next
  where e.disabled is null and e.failing_since is null and e.account_id not in (${UNATTENDED_ACCOUNTS})
) as "oldestUndeliveredEventSeconds", (
  select ${AGE('min(queued_at)')} from (
    select queued_at from unchained_audit_events order by event_id limit 1
  ) as oldest
) as "oldestUnchainedAuditEventSeconds", (
  select least(min(due_at), now() - interval '${LATE_SECONDS} seconds')::text from (
    (select due_at from undispatched_orders where ${IS_LEFT} order by due_at limit 1)
    union all select due_at from event_logs l cross join lateral (
      select due_at from unpublished_events where account_id = l.account_id and ${IS_LEFT} order by due_at limit 1
    ) as oldest
  ) as left_over
) as "firstDue", counted.*
from (select pg_has_role('pg_read_all_stats', 'usage') as sees_all) as role
cross join (
  select count(*)::int as "enabledEndpoints", count(failing_since)::int as "failingEndpoints"
  from endpoints where disabled is null and account_id not in (${UNATTENDED_ACCOUNTS})
) as counted`,
};

/** Its cost grows with the numbers of event logs and endpoints, and not with the stored data. @throws {pg.DatabaseError} or the connection's error. */
export async function readStalls(database: Database, bound: LowerBound = NO_LOWER_BOUND): Promise<Stalls> {
  type Row = Stalls & { firstDue: string };
  const [{ firstDue, ...stalls }] = (await run<Row>(database, READ, [bound.next()])) as [Row];
  bound.move(firstDue);
  return stalls;
}
