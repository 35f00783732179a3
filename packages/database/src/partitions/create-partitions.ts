import { setTimeout as sleep } from 'node:timers/promises';
import type { PartitionWidth } from '@orders/runtime/config/settings.ts';
import type { Database } from '../connect.ts';
import { SQLSTATE, sqlstateOf } from '../database-errors.ts';
import { firstUuidAt, timeOf } from '../receipts/uuids.ts';
import { type Connection, execute, inTransaction, run } from '../run.ts';
import {
  DAY_MS,
  findIdInDefault,
  findPeriodsInDefault,
  hasTable,
  KEYS,
  listPartitions,
  PARTITIONED,
  type Partition,
  type PartitionedTable,
  periodOf,
  type Range,
} from './list-partitions.ts';

/** A new receipt is updated once, others twice. With room for three versions, the updates stay on its page (HOT). */
const OPTIONS: Record<PartitionedTable, string> = {
  receipts: 'fillfactor = 35, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02',
  receipt_payloads: 'toast_tuple_target = 8160',
};

function nameOf(table: string, { from }: Range): string {
  const digits = new Date(from).toISOString().replaceAll(/\D/g, '');
  return `${table}_${from % DAY_MS === 0 ? digits.slice(0, 8) : digits}`;
}

/**
 * Creates the partition of a range, and moves the rows of this range out of the default partition.
 *
 * @returns its name; null when it already exists.
 * @throws {pg.DatabaseError} as `withLockRetries`; nothing was changed.
 */
async function createPartition(
  database: Database,
  table: PartitionedTable,
  range: Range,
  signal?: AbortSignal,
): Promise<string | null> {
  const name = nameOf(table, range);
  const [from, to] = [firstUuidAt(range.from), firstUuidAt(range.to)];
  return withLockRetries(
    database,
    async (transaction) => {
      // Serializes partition changes. Like a drop, it locks the table before its default partition. It blocks neither reads nor writes.
      await execute(transaction, `lock table only ${table} in share update exclusive mode`);
      if (await hasTable(transaction, name)) return null;
      await execute(transaction, `create table ${name} (like ${table} including all) with (${OPTIONS[table]})`);
      if ((await moveRows(transaction, table, name, range)) > 0) {
        // Waits for statements that were planned before the move, as they would find the rows in neither partition.
        await execute(transaction, `lock table only ${table} in access exclusive mode`);
        await moveRows(transaction, table, name, range);
      }
      // Fails (23514) if a row was added to an empty range meanwhile; the next attempt moves it.
      await execute(
        transaction,
        `alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
      );
      return name;
    },
    signal,
  );
}

/** Blocks only writers of these rows. @returns the number of moved rows. */
async function moveRows(
  transaction: Connection,
  table: PartitionedTable,
  name: string,
  { from, to }: Range,
): Promise<number> {
  const key = KEYS[table];
  return execute(
    transaction,
    `with moved as (delete from ${table}_default where ${key} >= $1 and ${key} < $2 returning *) insert into ${name} select * from moved`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
}

const AHEAD_MS = 28 * DAY_MS;

/** Max rows moved per transaction, which takes about 0.3 s. After each, Postgres scans the remaining rows under a lock. */
const CHUNK_ROWS = 50_000;
/** Pause between chunks for waiting transactions. */
const PAUSE_MS = 300;
/** The current range is busy if it has more rows than this. Its rows younger than `RECENT_MS` are not moved. */
const BUSY_ROWS = 1000;
const RECENT_MS = 60_000;

/**
 * Creates missing partitions of orders, and those of receipts and bodies for this period, the periods of the next four weeks, and each period
 * that has rows in the default partition. These rows are moved to the new partitions. A period with many rows gets several partitions, so
 * that each transaction is short.
 *
 * @param now Unix milliseconds.
 * @param options `width` of new partitions: existing ones of another width stay. `signal` stops it between two chunks.
 * @returns the names of the created tables.
 * @throws {pg.DatabaseError} as `withLockRetries`; partitions created before stay.
 */
export async function createPartitions(
  database: Database,
  now = Date.now(),
  { width = 'week', signal }: { width?: PartitionWidth; signal?: AbortSignal } = {},
): Promise<string[]> {
  const created = await createOrderPartitions(database, signal);
  const ahead: Range[] = [];
  for (let from = now; from <= now + AHEAD_MS; from = (ahead.at(-1) as Range).to) ahead.push(periodOf(from, width));
  const existing = await listPartitions(database);
  for (const table of PARTITIONED) {
    const covered = existing.filter((partition) => partition.table === table);
    const periods = [...ahead, ...(await findPeriodsInDefault(database, table, width))];
    const distinct = new Map(periods.map((period) => [period.from, period]));
    for (const period of [...distinct.values()].toSorted((a, b) => a.from - b.from)) {
      for (const gap of gapsIn(period, covered)) {
        for (const range of await excludeBusyRange(database, table, gap, now)) {
          created.push(...(await createPartitionsOfRange(database, table, range, signal)));
        }
      }
    }
  }
  return created;
}

/** Creates the partition of orders that follows the current one, and lets order ids continue there once a month. */
async function createOrderPartitions(database: Database, signal?: AbortSignal): Promise<string[]> {
  const make = 'select make_order_partitions() as name';
  const created = await withLockRetries(database, (transaction) => run<{ name: string }>(transaction, make), signal);
  // The partition is committed, as others take ids from its range at once.
  await withLockRetries(database, (transaction) => execute(transaction, 'select begin_order_range()'), signal);
  return created.map(({ name }) => name);
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
async function excludeBusyRange(
  connection: Connection,
  table: PartitionedTable,
  gap: Range,
  now: number,
): Promise<Range[]> {
  const isBusy =
    gap.from < now && now < gap.to && (await findIdInDefault(connection, table, gap, BUSY_ROWS)) !== undefined;
  if (!isBusy) return [gap];
  const after = { from: Math.min(now + RECENT_MS, gap.to), to: gap.to };
  const before = { from: gap.from, to: Math.max(now - RECENT_MS, gap.from) };
  return [after, before].filter(({ from, to }) => from < to);
}

/** Creates several partitions if the range has more than `CHUNK_ROWS` rows. */
async function createPartitionsOfRange(
  database: Database,
  table: PartitionedTable,
  { from, to }: Range,
  signal?: AbortSignal,
): Promise<string[]> {
  const created: string[] = [];
  while (from < to && !signal?.aborted) {
    if (created.length > 0) await sleep(PAUSE_MS, null, { signal }).catch(() => {});
    const next = await findIdInDefault(database, table, { from, to }, CHUNK_ROWS);
    const end = next === undefined ? to : Math.min(timeOf(next) + 1, to);
    const name = await createPartition(database, table, { from, to: end }, signal);
    if (name) created.push(name);
    from = end;
  }
  return created;
}

/** Intake queues behind a request for a table lock, so this limits how long senders wait. */
const LOCK_TIMEOUT_MS = 200;
const ATTEMPTS = 5;
/** Random, so that workers do not request the same lock in step; much longer than senders wait. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 2000];
// A query is canceled by the statement timeout. A row that is added to the default partition while its partition is attached violates a check.
const RETRIABLE: readonly string[] = [
  SQLSTATE.lockNotAvailable,
  SQLSTATE.deadlockDetected,
  SQLSTATE.queryCanceled,
  SQLSTATE.checkViolation,
];

/**
 * Runs work in a transaction that waits at most 200 ms for a lock, with up to five attempts and pauses between them.
 *
 * @param work must be safe to retry.
 * @throws {pg.DatabaseError} 55P03, 40P01, 57014 or 23514 when the last attempt failed, or `signal` was aborted after one; nothing was changed.
 */
export async function withLockRetries<T>(
  database: Database,
  work: (transaction: Connection) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(database, work, { lock_timeout: LOCK_TIMEOUT_MS });
    } catch (error) {
      if (attempt === ATTEMPTS || signal?.aborted || !RETRIABLE.includes(sqlstateOf(error) ?? '')) throw error;
      const pauseMs = MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS);
      await sleep(pauseMs, null, { signal }).catch(() => {});
      if (signal?.aborted) throw error;
    }
  }
}
