import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import {
  firstUuidAt,
  listPartitions,
  PARTITIONED,
  type Partition,
  type PartitionedTable,
  timeOf,
  WEEK_MS,
} from './partitions.ts';
import { withLockRetries } from './with-lock-retries.ts';

const WEEKS_AHEAD = 4;

const KEYS: Record<PartitionedTable, string> = { receipts: 'receipt_id', receipt_payloads: 'batch_id' };
/** A receipt is updated twice. With room for three versions, both updates stay on its page (HOT); measured in docs/performance.md. */
const OPTIONS: Record<PartitionedTable, string> = {
  receipts: 'fillfactor = 35, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02',
  receipt_payloads: 'toast_tuple_target = 8160',
};

/** Rows moved out of a default partition per transaction: about 0.3 s. After each, Postgres scans the remaining rows under a lock. */
const CHUNK_ROWS = 50_000;
/** Pause between chunks for waiting transactions, in milliseconds. */
const PAUSE_MS = 300;
/** A range with more rows than this that still receives rows is busy: its rows younger than `SETTLE_MS` are not moved. */
const BUSY_ROWS = 1000;
const RECENT_MS = 60_000;
/** Ids with a later time were not created by this service. */
const LATEST = Date.UTC(9999, 0);

interface Range {
  from: number;
  to: number;
}

/**
 * Creates missing partitions for this week, the next four weeks, and each week that has rows in the default partition. Those rows are moved
 * in chunks with one partition each, so a week can have several partitions.
 *
 * @param now Unix milliseconds.
 * @param signal stops it between two chunks.
 * @returns the names of the created tables.
 * @throws {pg.DatabaseError} as `withLockRetries`; partitions created before stay.
 */
export async function createPartitions(knex: Knex, now = Date.now(), signal?: AbortSignal): Promise<string[]> {
  const thisWeek = Math.floor(now / WEEK_MS) * WEEK_MS;
  const ahead = Array.from({ length: WEEKS_AHEAD + 1 }, (_, week) => thisWeek + week * WEEK_MS);
  const existing = await listPartitions(knex);
  const made: string[] = [];
  for (const table of PARTITIONED) {
    const covered = existing.filter((partition) => partition.table === table);
    const weeks = new Set([...ahead, ...(await findWeeksInDefault(knex, table))]);
    for (const from of [...weeks].toSorted((a, b) => a - b)) {
      for (const gap of gapsIn({ from, to: from + WEEK_MS }, covered)) {
        for (const range of await excludeBusyRange(knex, table, gap, now)) {
          made.push(...(await createPartitionsOfRange(knex, table, range, signal)));
        }
      }
    }
  }
  return made;
}

/** The weeks that have rows in a default partition; costs one index lookup per week. */
async function findWeeksInDefault(knex: Knex, table: PartitionedTable): Promise<number[]> {
  const weeks: number[] = [];
  for (let from = 0; from < LATEST; ) {
    const id = await findIdInDefault(knex, table, { from, to: LATEST });
    if (id === undefined) break;
    const week = Math.floor(timeOf(id) / WEEK_MS) * WEEK_MS;
    weeks.push(week);
    from = week + WEEK_MS;
  }
  return weeks;
}

/** The id at position `offset` of a range. */
async function findIdInDefault(
  knex: Knex,
  table: PartitionedTable,
  { from, to }: Range,
  offset = 0,
): Promise<string | undefined> {
  const key = KEYS[table];
  const ids = await knex(`${table}_default`)
    .where(key, '>=', firstUuidAt(from))
    .where(key, '<', firstUuidAt(to))
    .orderBy(key)
    .offset(offset)
    .limit(1)
    .pluck<string[]>(key);
  return ids[0];
}

/** The parts of a range that no partition covers. @param partitions in ascending order. */
function gapsIn({ from, to }: Range, partitions: readonly Partition[]): Range[] {
  const gaps: Range[] = [];
  let next = from;
  for (const partition of partitions) {
    if (partition.to <= next || partition.from >= to) continue;
    if (partition.from > next) gaps.push({ from: next, to: partition.from });
    next = partition.to;
  }
  return next < to ? [...gaps, { from: next, to }] : gaps;
}

/**
 * Excludes current rows if the default partition receives many. An insert that waits for the partition's lock would fail (23514) once the
 * row belongs to a new partition. The next call handles the excluded range, which then receives no more rows.
 */
async function excludeBusyRange(knex: Knex, table: PartitionedTable, gap: Range, now: number): Promise<Range[]> {
  const isBusy = gap.from < now && now < gap.to && (await findIdInDefault(knex, table, gap, BUSY_ROWS)) !== undefined;
  if (!isBusy) return [gap];
  const after = { from: Math.min(now + RECENT_MS, gap.to), to: gap.to };
  const before = { from: gap.from, to: Math.max(now - RECENT_MS, gap.from) };
  return [after, before].filter(({ from, to }) => from < to);
}

async function createPartitionsOfRange(
  knex: Knex,
  table: PartitionedTable,
  { from, to }: Range,
  signal?: AbortSignal,
): Promise<string[]> {
  const made: string[] = [];
  while (from < to && !signal?.aborted) {
    if (made.length > 0) await sleep(PAUSE_MS, null, { signal }).catch(() => {});
    const next = await findIdInDefault(knex, table, { from, to }, CHUNK_ROWS);
    const end = next === undefined ? to : Math.min(timeOf(next) + 1, to);
    const name = await makePartition(knex, table, { from, to: end }, signal);
    if (name) made.push(name);
    from = end;
  }
  return made;
}

function nameOf(table: string, { from }: Range): string {
  const digits = new Date(from).toISOString().replaceAll(/\D/g, '');
  return `${table}_${from % WEEK_MS === 0 ? digits.slice(0, 8) : digits}`;
}

/** @returns its name; null when it already exists. */
async function makePartition(
  knex: Knex,
  table: PartitionedTable,
  range: Range,
  signal?: AbortSignal,
): Promise<string | null> {
  const name = nameOf(table, range);
  const [from, to] = [firstUuidAt(range.from), firstUuidAt(range.to)];
  return withLockRetries(
    knex,
    async (trx) => {
      // Serializes partition changes, and locks the table before its default partition, as a drop does. It blocks neither reads nor writes.
      await trx.raw(`lock table only ${table} in share update exclusive mode`);
      if (await trx.schema.hasTable(name)) return null;
      await trx.raw(`create table ${name} (like ${table} including all) with (${OPTIONS[table]})`);
      if ((await moveRows(trx, table, name, range)) > 0) {
        // Waits for statements that were planned before the move: they would find the rows in neither partition.
        await trx.raw(`lock table only ${table} in access exclusive mode`);
        await moveRows(trx, table, name, range);
      }
      // Fails (23514) if a row was added to an empty range meanwhile; the next attempt moves it.
      await trx.raw(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
      return name;
    },
    signal,
  );
}

/** Blocks only writers of these rows. */
async function moveRows(
  trx: Knex.Transaction,
  table: PartitionedTable,
  name: string,
  { from, to }: Range,
): Promise<number> {
  const key = KEYS[table];
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `with moved as (delete from ${table}_default where ${key} >= ? and ${key} < ? returning *) insert into ${name} select * from moved`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
  return rowCount;
}

const MAX_COUNTED = 10_000;

/** Number of rows in the default partitions of receipts and bodies; each count stops at 10,000. */
export async function countInDefault(knex: Knex): Promise<number> {
  const counts = PARTITIONED.map(
    (table) => `(select count(*) from (select from ${table}_default limit ${MAX_COUNTED}) as counted)`,
  );
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(`select ${counts.join(' + ')} as count`);
  return rows[0]?.count ?? 0;
}
