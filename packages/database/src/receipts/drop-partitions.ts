import type { Knex } from 'knex';
import { removeOldResends } from '../resends/remove-old-resends.ts';
import { firstUuidAt, listPartitions, type Partition, RETENTION_LOCK, timeOf } from './partitions.ts';
import { withLockRetries } from './with-lock-retries.ts';

/** While the table is locked, the outbox is read once more; with a backlog of millions that takes longer, and the drop has to wait. */
const CHECK_UNDER_LOCK_MS = 300;

/** What a turn of retention did, by names of tables. */
export interface Retention {
  dropped: string[];
  /** Past their retention, and kept because a receipt in them, or in a partition before, is not final. */
  kept: string[];
}

/**
 * Drops each partition of receipts once all in it is older than `retention` milliseconds, by Postgres' clock, and final, and those before
 * it are gone; then the partitions of bodies that no receipt is left for. Each goes in a transaction of its own: intake locks bodies
 * before receipts, so a transaction that drops both would be a deadlock with it. What a stopped worker left half done is found again.
 *
 * @param signal ends it between two partitions.
 * @throws {pg.DatabaseError} 55P03, 40P01 or 57014 when a lock was not available; what was dropped before stays dropped.
 */
export async function dropOldPartitions(knex: Knex, retention: number, signal?: AbortSignal): Promise<Retention> {
  const result: Retention = { dropped: [], kept: [] };
  const { rows } = await knex.raw<{ rows: { now: Date }[] }>('select now() as now');
  const horizon = (rows[0]?.now.getTime() ?? 0) - retention;
  const partitions = await listPartitions(knex);
  const receipts = partitions.filter(({ table }) => table === 'receipts');
  const bodies = partitions.filter(({ table }) => table === 'receipt_payloads');
  let left = receipts;
  for (const partition of receipts.filter(({ from, to }) => Number.isFinite(from) && to <= horizon)) {
    if (signal?.aborted) return result;
    if (result.kept.length > 0 || !(await dropReceipts(knex, partition, signal))) {
      result.kept.push(partition.name);
      continue;
    }
    result.dropped.push(partition.name);
    left = left.filter(({ name }) => name !== partition.name);
  }
  // A batch is named after its receipts, so a body may lie in the partition after that of its receipt, and never in one before.
  const firstLeft = Math.min(left[0]?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(knex));
  for (const { name, to } of bodies) {
    if (signal?.aborted) return result;
    if (to > horizon || to > firstLeft) continue;
    await withLockRetries(knex, (trx) => trx.raw('drop table if exists ??', [name]), signal);
    result.dropped.push(name);
  }
  return result;
}

/** @returns whether it is gone; false when a receipt in it is not final. */
async function dropReceipts(knex: Knex, partition: Partition, signal?: AbortSignal): Promise<boolean> {
  // First without any lock, as this is what keeps a week for long, and takes a while with a large backlog.
  if (await hasPending(knex, partition)) return false;
  const stillPending = Symbol('still pending');
  const dropping = withLockRetries(
    knex,
    async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(?)', [RETENTION_LOCK]);
      // Another worker may have dropped it meanwhile.
      if (!(await trx.schema.hasTable(partition.name))) return;
      await trx.raw('set local statement_timeout = 0');
      await trx('dead_letters').where(idsWithin('receipt_id', partition)).delete();
      // From here on intake waits, and no receipt can come into the partition or change in it.
      await trx.raw('lock table only receipts in access exclusive mode');
      await trx.raw(`set local statement_timeout = ${CHECK_UNDER_LOCK_MS}`);
      if (await findPending(trx, partition)) throw stillPending;
      await trx.raw('set local statement_timeout = 0');
      await trx.raw('drop table ??', [partition.name]);
    },
    signal,
  );
  return dropping.then(
    () => true,
    (error) => {
      if (error === stillPending) return false;
      throw error;
    },
  );
}

/** Without a time limit, also behind a pooler whose connections bring one. */
async function hasPending(knex: Knex, partition: Partition): Promise<boolean> {
  return knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0');
    return findPending(trx, partition);
  });
}

/**
 * Whether a receipt of the partition is not final, by the outbox: the id of each such receipt is in it, in every snapshot, as
 * `reconcileReceipts` explains. So this costs what the backlog costs, not what the partition holds. It stays true until the partition is
 * dropped if nobody can record or redrive a receipt meanwhile.
 */
async function findPending(knex: Knex, { from, to }: Partition): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: { pending: boolean }[] }>(
    `select exists (
       select from outbox cross join lateral unnest(receipt_ids) as id where id >= ?::uuid and id < ?::uuid
     ) as pending`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
  return rows[0]?.pending ?? true;
}

function idsWithin(column: string, { from, to }: Partition) {
  return (query: Knex.QueryBuilder) => {
    query.where(column, '>=', firstUuidAt(from)).where(column, '<', firstUuidAt(to));
  };
}

async function firstInDefault(knex: Knex): Promise<number> {
  const [id] = await knex('receipts_default').orderBy('receipt_id').limit(1).pluck<string[]>('receipt_id');
  return id === undefined ? Number.POSITIVE_INFINITY : timeOf(id);
}

/**
 * Removes what is kept about receipts whose partitions are gone: their activity, and what was sent again of their orders. It reads both
 * tables whole, so it belongs behind a drop; a worker that ends between the two leaves it to the next drop.
 *
 * @param signal ends it between two portions.
 */
export async function removeLeftovers(knex: Knex, signal?: AbortSignal): Promise<void> {
  const [first] = (await listPartitions(knex)).filter(({ table }) => table === 'receipts');
  const start = Math.min(first?.from ?? Number.POSITIVE_INFINITY, await firstInDefault(knex));
  if (!Number.isFinite(start)) return;
  await knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0');
    await trx('activity').where('bucket_start', '<', new Date(start)).delete();
  });
  await removeOldResends(knex, firstUuidAt(start), signal);
}
