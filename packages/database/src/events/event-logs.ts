import { type Connection, execute, removeChunks, run } from '../run.ts';

/** A log as operators and account holders see it. */
export interface EventLogState {
  is_enabled: boolean;
  /** Sequences of the oldest and the newest event that can be read; null if there is none. */
  first_sequence: number | null;
  last_sequence: number | null;
  /** Events that are not published yet: most often confirmations within their undo time. */
  unpublished: number;
}

/** Max unpublished events that are counted. */
const MAX_COUNTED = 10_000;

/** The state of an account's log; an account that never had events has an empty one. */
export async function readEventLog(connection: Connection, accountId: number): Promise<EventLogState> {
  const [state] = await run<EventLogState>(
    connection,
    `select coalesce(l.is_enabled, false) as is_enabled,
            (select min(sequence) from events where account_id = $1::int) as first_sequence,
            (select max(sequence) from events where account_id = $1::int) as last_sequence,
            (select count(*)::int from (
               select from unpublished_events where account_id = $1::int limit ${MAX_COUNTED}
             ) as counted) as unpublished
     from (select) as one left join event_logs l on l.account_id = $1::int`,
    [accountId],
  );
  return state as EventLogState;
}

/**
 * Enables or disables an account's events. Stored ones stay until they are too old; nothing is recorded while
 * events are disabled.
 *
 * @returns whether that changed anything.
 */
export async function setEvents(connection: Connection, accountId: number, isEnabled: boolean): Promise<boolean> {
  const changed = await execute(
    connection,
    `insert into event_logs as l (account_id, is_enabled) select $1::int, $2::boolean
     where $2::boolean or exists (select from event_logs where account_id = $1::int)
     on conflict (account_id) do update set is_enabled = excluded.is_enabled where l.is_enabled <> excluded.is_enabled`,
    [accountId, isEnabled],
  );
  return changed === 1;
}

/** Rows per statement. */
const CHUNK_SIZE = 10_000;

/**
 * Removes events older than `keptMs` milliseconds. Ends early when `stopping` is aborted.
 *
 * @returns the number of removed events.
 */
export async function pruneEvents(connection: Connection, keptMs: number, stopping: AbortSignal): Promise<number> {
  const logs = await run<{ account_id: number }>(connection, 'select account_id from event_logs order by account_id');
  let removed = 0;
  for (const { account_id: accountId } of logs) {
    const removeChunk = async () => {
      const [row] = await run<{ count: number }>(
        connection,
        `with oldest as (
           select sequence, happened_at from events where account_id = $1::int order by sequence limit ${CHUNK_SIZE}
         ), removed as (
           delete from events e using oldest o
           where e.account_id = $1::int and e.sequence = o.sequence and o.happened_at < now() - $2 * interval '1 ms'
           returning e.sequence
         ), marked as (
           update event_logs set removed_to = r.newest from (select max(sequence) as newest from removed) as r
           where account_id = $1::int and r.newest > removed_to
         )
         select count(*)::int as count from removed`,
        [accountId, keptMs],
      );
      return row?.count ?? 0;
    };
    removed += await removeChunks(CHUNK_SIZE, removeChunk, stopping);
  }
  return removed;
}
