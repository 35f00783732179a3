import type { Knex } from 'knex';
import { removeChunks } from '../run.ts';

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
export async function readEventLog(db: Knex, accountId: number): Promise<EventLogState> {
  const { rows } = await db.raw<{ rows: EventLogState[] }>(
    `select coalesce(l.is_enabled, false) as is_enabled,
            (select min(sequence) from events where account_id = :accountId::int) as first_sequence,
            (select max(sequence) from events where account_id = :accountId::int) as last_sequence,
            (select count(*)::int from (
               select from unpublished_events where account_id = :accountId::int limit ${MAX_COUNTED}
             ) as counted) as unpublished
     from (select) as one left join event_logs l on l.account_id = :accountId::int`,
    { accountId },
  );
  return rows[0] as EventLogState;
}

/**
 * Enables or disables an account's events. Stored ones stay until they are too old; nothing is recorded while
 * events are disabled.
 *
 * @returns whether that changed anything.
 */
export async function setEvents(db: Knex, accountId: number, isEnabled: boolean): Promise<boolean> {
  const { rowCount } = await db.raw(
    `insert into event_logs as l (account_id, is_enabled) select :accountId::int, :isEnabled::boolean
     where :isEnabled::boolean or exists (select from event_logs where account_id = :accountId::int)
     on conflict (account_id) do update set is_enabled = excluded.is_enabled where l.is_enabled <> excluded.is_enabled`,
    { accountId, isEnabled },
  );
  return rowCount === 1;
}

/** Rows per statement. */
const CHUNK_SIZE = 10_000;

/**
 * Removes events older than `keptMs` milliseconds. Ends early when `stopping` is aborted.
 *
 * @returns the number of removed events.
 */
export async function pruneEvents(db: Knex, keptMs: number, stopping: AbortSignal): Promise<number> {
  const accounts: number[] = await db('event_logs').orderBy('account_id').pluck('account_id');
  let removed = 0;
  for (const accountId of accounts) {
    const removeChunk = async () => {
      const { rows } = await db.raw<{ rows: { count: number }[] }>(
        `with oldest as (
           select sequence, happened_at from events where account_id = :accountId order by sequence limit ${CHUNK_SIZE}
         ), removed as (
           delete from events e using oldest o
           where e.account_id = :accountId and e.sequence = o.sequence and o.happened_at < now() - :keptMs * interval '1 ms'
           returning e.sequence
         ), marked as (
           update event_logs set removed_to = r.newest from (select max(sequence) as newest from removed) as r
           where account_id = :accountId and r.newest > removed_to
         )
         select count(*)::int as count from removed`,
        { accountId, keptMs },
      );
      return rows[0]?.count ?? 0;
    };
    removed += await removeChunks(CHUNK_SIZE, removeChunk, stopping);
  }
  return removed;
}
