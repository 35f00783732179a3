import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

/** State of WAL archiving. */
export interface Archiving {
  /** Whether the last attempt failed. */
  isFailing: boolean;
  /** Seconds since the last archived segment; null if none was archived yet. */
  ageSeconds: number | null;
  /** Complete segments that are not archived; null if none was archived yet. */
  waitingSegments: number | null;
}

const NUMBER = (digits: string) => `('x' || lpad(${digits}, 16, '0'))::bit(64)::bigint`;
/** SQL: number of a segment, whose name is 24 hex digits: eight for the timeline, eight for the 4 GiB unit, eight for the segment in it. */
const SEGMENT = (name: string) =>
  `(${NUMBER(`substr(${name}, 9, 8)`)} * (4294967296 / segment_bytes) + ${NUMBER(`substr(${name}, 17, 8)`)})`;

const READ = {
  name: 'read-archiving',
  // Other archived files, such as timeline histories and backup labels, are no segments.
  text: `
select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "isFailing",
       extract(epoch from clock_timestamp() - last_archived_time)::float8 as "ageSeconds",
       case when last_archived_wal ~ '^[0-9A-F]{24}' then
         greatest(0, ${SEGMENT('pg_walfile_name(pg_current_wal_lsn())')} - ${SEGMENT('last_archived_wal')} - 1)::float8
       end as "waitingSegments"
from pg_stat_archiver, pg_size_bytes(current_setting('wal_segment_size')) as segment_bytes
where current_setting('archive_mode') <> 'off' and not pg_is_in_recovery()`,
};

/** What the database has used of its limits. */
export interface DatabaseUse {
  /** Its size. */
  bytes: number;
  /** The share of transaction ids, or of multixact ids if that is more, after which Postgres accepts no more writes. */
  idShare: number;
}

const READ_USE = {
  name: 'read-database-use',
  text: `
select pg_database_size(current_database())::float8 as bytes,
       (select max(greatest(age(datfrozenxid), mxid_age(datminmxid))) / 2147483648.0::float8 from pg_database) as "idShare"`,
};

/** @throws {pg.DatabaseError} or the connection's error. */
export async function readDatabaseUse(database: Database): Promise<DatabaseUse> {
  const [use] = await run<DatabaseUse>(database, READ_USE, []);
  return use as DatabaseUse;
}

/** @returns null when `archive_mode` is off. @throws {pg.DatabaseError} or the connection's error. */
export async function readArchiving(database: Database): Promise<Archiving | null> {
  const [archiving] = await run<Archiving>(database, READ, []);
  return archiving ?? null;
}
