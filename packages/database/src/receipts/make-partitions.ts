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
/** A receipt is updated twice: room for three versions keeps both updates on its page (HOT). Figures are in docs/performance.md. */
const OPTIONS: Record<PartitionedTable, string> = {
  receipts: 'fillfactor = 35, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02',
  receipt_payloads: 'toast_tuple_target = 8160',
};

/** Rows moved out of a default partition in one transaction: some 0.3 s, and after each Postgres reads what is left, under a lock. */
const PORTION = 50_000;
/** Rests between portions, in milliseconds, in which those who waited get their turn. */
const RETRY_DELAY_MS = 300;
/** With more rows than this where new ones are still coming, none is moved that is younger than `STILL_COMING_MS`. */
const FEW = 1000;
const STILL_COMING_MS = 60_000;
/** Ids of a later time cannot be dates of four digits, so they are no UUIDv7 of ours. */
const LATEST = Date.UTC(9999, 0);

interface Range {
  from: number;
  to: number;
}

/**
 * Makes the partitions that are missing: of this week, of the four after it, and of each week of which the default partition has rows.
 * Those rows move along, in portions with a partition each, so a week may end up with several.
 *
 * @param now Unix milliseconds.
 * @param signal ends it between two portions.
 * @returns the names of the tables made.
 * @throws {pg.DatabaseError} 55P03 when a lock was not available; the partitions made before stay.
 */
export async function makePartitions(knex: Knex, now = Date.now(), signal?: AbortSignal): Promise<string[]> {
  const thisWeek = Math.floor(now / WEEK_MS) * WEEK_MS;
  const ahead = Array.from({ length: WEEKS_AHEAD + 1 }, (_, week) => thisWeek + week * WEEK_MS);
  const existing = await listPartitions(knex);
  const made: string[] = [];
  for (const table of PARTITIONED) {
    const covered = existing.filter((partition) => partition.table === table);
    const weeks = new Set([...ahead, ...(await findWeeksInDefault(knex, table))]);
    for (const from of [...weeks].toSorted((a, b) => a - b)) {
      for (const gap of gapsIn({ from, to: from + WEEK_MS }, covered)) {
        for (const range of await withoutIncoming(knex, table, gap, now)) {
          made.push(...(await fillRange(knex, table, range, signal)));
        }
      }
    }
  }
  return made;
}

/** The weeks of which a default partition has rows, at the cost of a look into its index for each. */
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

/** The id that comes after `offset` others of a range. */
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

/** What of a range no partition covers; these are in ascending order. */
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
 * Where the default partition is receiving rows at some rate, what is just coming stays out: an insert that waits for its lock would be
 * refused (23514) once there is another place for it. The next call finds what was left out, as nothing comes there any more.
 */
async function withoutIncoming(knex: Knex, table: PartitionedTable, gap: Range, now: number): Promise<Range[]> {
  const isBusy = gap.from < now && now < gap.to && (await findIdInDefault(knex, table, gap, FEW)) !== undefined;
  if (!isBusy) return [gap];
  const after = { from: Math.min(now + STILL_COMING_MS, gap.to), to: gap.to };
  const before = { from: gap.from, to: Math.max(now - STILL_COMING_MS, gap.from) };
  return [after, before].filter(({ from, to }) => from < to);
}

async function fillRange(
  knex: Knex,
  table: PartitionedTable,
  { from, to }: Range,
  signal?: AbortSignal,
): Promise<string[]> {
  const made: string[] = [];
  while (from < to && !signal?.aborted) {
    if (made.length > 0) await sleep(RETRY_DELAY_MS, null, { signal }).catch(() => {});
    const next = await findIdInDefault(knex, table, { from, to }, PORTION);
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

/** @returns its name; null when somebody else has made it. */
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
      // One at a time, and the table before its default partition, as a drop locks them. Neither readers nor writers wait for this.
      await trx.raw(`lock table only ${table} in share update exclusive mode`);
      if (await trx.schema.hasTable(name)) return null;
      await trx.raw(`create table ${name} (like ${table} including all) with (${OPTIONS[table]})`);
      if ((await moveRows(trx, table, name, range)) > 0) {
        // A statement that was planned before and reads after would find the rows in neither place: it has this lock, so it is waited for.
        await trx.raw(`lock table only ${table} in access exclusive mode`);
        await moveRows(trx, table, name, range);
      }
      // Fails (23514) if a row has come into an empty range meanwhile; the next attempt moves that.
      await trx.raw(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
      return name;
    },
    signal,
  );
}

/** Only who writes to one of these rows waits for it. */
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

const IN_DEFAULT_COUNTED_TO = 10_000;

/** How many rows the default partitions have, receipts and bodies, each counted to 10,000. */
export async function countInDefault(knex: Knex): Promise<number> {
  const counts = PARTITIONED.map(
    (table) => `(select count(*) from (select from ${table}_default limit ${IN_DEFAULT_COUNTED_TO}) as counted)`,
  );
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(`select ${counts.join(' + ')} as count`);
  return rows[0]?.count ?? 0;
}
