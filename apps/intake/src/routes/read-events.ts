import type { Database } from '@orders/database/connect.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { AccountEvent } from '@orders/domain/events.ts';

/** The state of an account's log. */
export interface EventLog {
  isEnabled: boolean;
  /** The last assigned sequence; 0 before the first event. A restore raises it, so that no sequence is assigned twice. */
  lastAssignedSequence: number;
  /** The sequence of the newest stored event; `removedTo` if there is none. */
  newestStoredSequence: number;
  /** The sequence of the newest event that was removed because of its age. */
  removedTo: number;
}

/** SQL: the sequence of the newest stored event of a log. */
const NEWEST = 'coalesce((select max(sequence) from events e where e.account_id = l.account_id), l.removed_to)';

const FIND_LOG = {
  name: 'find-event-log',
  text: `
select is_enabled as "isEnabled", last_sequence as "lastAssignedSequence", ${NEWEST} as "newestStoredSequence", removed_to as "removedTo"
from event_logs l where account_id = $1::int`,
};

/** @returns null if the account never had events. */
export async function findEventLog(database: Connection, accountId: number): Promise<EventLog | null> {
  const [log] = await run<EventLog>(database, FIND_LOG, [accountId]);
  return log ?? null;
}

const FIND_NEWEST = {
  name: 'find-newest-events',
  text: `
select account_id as "accountId", ${NEWEST} as "newestStoredSequence" from event_logs l
where account_id = any($1::int[]) and is_enabled`,
};

/** @returns the sequence of the newest stored event by account. Accounts whose log is not enabled are missing. */
export async function findNewestEvents(
  database: Database,
  accountIds: readonly number[],
): Promise<Map<number, number>> {
  type Row = { accountId: number; newestStoredSequence: number };
  const rows = await run<Row>(database, FIND_NEWEST, [accountIds]);
  return new Map(rows.map(({ accountId, newestStoredSequence }) => [accountId, newestStoredSequence]));
}

/** SQL: the columns of an `AccountEvent`. */
export const EVENT_COLUMNS = 'sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details';

/** Max size of the details of a page in bytes; its last event may exceed it. */
const MAX_PAGE_BYTES = 1_048_576;

const READ = {
  name: 'read-events',
  text: `
select ${EVENT_COLUMNS} from (
  select e.*, sum(octet_length(e.details::text)) over (order by e.sequence) - octet_length(e.details::text) as bytes_before
  from (
    select * from events where account_id = $1::int and sequence > $2::bigint order by sequence limit $3::int
  ) as e
) as page
where bytes_before < ${MAX_PAGE_BYTES} order by sequence`,
};

/** The account's events after a sequence, in order: at most `limit`, and about 1 MiB. */
export async function readEvents(
  database: Database,
  accountId: number,
  after: number,
  limit: number,
): Promise<AccountEvent[]> {
  return run<AccountEvent>(database, READ, [accountId, after, limit]);
}
