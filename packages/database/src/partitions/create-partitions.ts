import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { timeOf } from '../receipts/uuids.ts';
import { createPartition } from './create-partition.ts';
import { findIdInDefault, findWeeksInDefault } from './default-partitions.ts';
import {
  listPartitions,
  PARTITIONED,
  type Partition,
  type PartitionedTable,
  type Range,
  WEEK_MS,
} from './list-partitions.ts';

const WEEKS_AHEAD = 4;

/** Max rows moved per transaction, which takes about 0.3 s. After each, Postgres scans the remaining rows under a lock. */
const CHUNK_ROWS = 50_000;
/** Pause between chunks for waiting transactions. */
const PAUSE_MS = 300;
/** The current range is busy if it has more rows than this. Its rows younger than `RECENT_MS` are not moved. */
const BUSY_ROWS = 1000;
const RECENT_MS = 60_000;

/**
 * Creates missing partitions for this week, the next four weeks, and each week that has rows in the default partition. These rows are moved
 * to the new partitions. A week with many rows gets several partitions, so that each transaction is short.
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
  const created: string[] = [];
  for (const table of PARTITIONED) {
    const covered = existing.filter((partition) => partition.table === table);
    const weeks = new Set([...ahead, ...(await findWeeksInDefault(knex, table))]);
    for (const from of [...weeks].toSorted((a, b) => a - b)) {
      for (const gap of gapsIn({ from, to: from + WEEK_MS }, covered)) {
        for (const range of await excludeBusyRange(knex, table, gap, now)) {
          created.push(...(await createPartitionsOfRange(knex, table, range, signal)));
        }
      }
    }
  }
  return created;
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
 * Excludes recent and coming rows of a busy range. An insert that waits for the lock of the default partition would fail (23514) if its row
 * then belonged to a new partition. The next call creates the partition of the excluded range, which then receives no more rows.
 */
async function excludeBusyRange(knex: Knex, table: PartitionedTable, gap: Range, now: number): Promise<Range[]> {
  const isBusy = gap.from < now && now < gap.to && (await findIdInDefault(knex, table, gap, BUSY_ROWS)) !== undefined;
  if (!isBusy) return [gap];
  const after = { from: Math.min(now + RECENT_MS, gap.to), to: gap.to };
  const before = { from: gap.from, to: Math.max(now - RECENT_MS, gap.from) };
  return [after, before].filter(({ from, to }) => from < to);
}

/** Creates several partitions if the range has more than `CHUNK_ROWS` rows. */
async function createPartitionsOfRange(
  knex: Knex,
  table: PartitionedTable,
  { from, to }: Range,
  signal?: AbortSignal,
): Promise<string[]> {
  const created: string[] = [];
  while (from < to && !signal?.aborted) {
    if (created.length > 0) await sleep(PAUSE_MS, null, { signal }).catch(() => {});
    const next = await findIdInDefault(knex, table, { from, to }, CHUNK_ROWS);
    const end = next === undefined ? to : Math.min(timeOf(next) + 1, to);
    const name = await createPartition(knex, table, { from, to: end }, signal);
    if (name) created.push(name);
    from = end;
  }
  return created;
}
