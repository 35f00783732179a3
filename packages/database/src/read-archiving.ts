import { type Database, run } from './connect.ts';

/** How Postgres' archive of its write-ahead log keeps up. */
export interface Archiving {
  /** The last attempt failed. */
  isFailing: boolean;
  /** Seconds since a segment was last archived; null where none ever was. */
  ageSeconds: number | null;
  /** Segments that are complete and not archived; null where none ever was. */
  waitingSegments: number | null;
}

const NUMBER = (digits: string) => `('x' || lpad(${digits}, 16, '0'))::bit(64)::bigint`;
/** A name is 24 hex digits: eight of the timeline, eight of the 4 GiB that the segment lies in, eight of its place there. */
const SEGMENT = (name: string) =>
  `(${NUMBER(`substr(${name}, 9, 8)`)} * (4294967296 / segment_bytes) + ${NUMBER(`substr(${name}, 17, 8)`)})`;

const READ = {
  name: 'read-archiving',
  // What else is archived, such as the history of a timeline, has no number. A backup's name begins with that of a segment.
  text: `
select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "isFailing",
       extract(epoch from clock_timestamp() - last_archived_time)::float8 as "ageSeconds",
       case when last_archived_wal ~ '^[0-9A-F]{24}' then
         greatest(0, ${SEGMENT('pg_walfile_name(pg_current_wal_lsn())')} - ${SEGMENT('last_archived_wal')} - 1)::float8
       end as "waitingSegments"
from pg_stat_archiver, pg_size_bytes(current_setting('wal_segment_size')) as segment_bytes
where current_setting('archive_mode') <> 'off' and not pg_is_in_recovery()`,
};

const READ_SIZE = { name: 'read-size', text: 'select pg_database_size(current_database())::float8 as bytes' };

/** @returns the bytes of the database of this connection. @throws {pg.DatabaseError} or the connection's error. */
export async function readDatabaseSize(database: Database): Promise<number> {
  const [size] = await run<{ bytes: number }>(database, READ_SIZE, []);
  return (size as { bytes: number }).bytes;
}

/** @returns null where `archive_mode` is off. @throws {pg.DatabaseError} or the connection's error. */
export async function readArchiving(database: Database): Promise<Archiving | null> {
  const [archiving] = await run<Archiving>(database, READ, []);
  return archiving ?? null;
}
