import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import { closeAfterTest } from './close-at-end.ts';
import { readGauge } from './read-metrics.ts';

/** Where a test can make a statement wait: at its end, when all its rows are written and locked but not committed. */
export type BarrierName = 'keys taken' | 'receipts claimed' | 'orders written';

const BARRIERS: Record<BarrierName, { id: number; trigger: string }> = {
  'keys taken': { id: 1, trigger: 'after insert on idempotency_keys for each row' },
  'receipts claimed': { id: 2, trigger: "after update on receipts for each row when (new.state = 'normalized')" },
  'orders written': { id: 3, trigger: 'after insert or update on order_keys for each row' },
};

/** Installs the barriers in a database, all open. A statement waits at one without a limit, also if it limits its waits for locks. */
export async function installBarriers(knex: Knex): Promise<void> {
  await knex.raw(`
    create function pass_barrier() returns trigger language plpgsql set lock_timeout = 0 as
    $$ begin perform pg_advisory_xact_lock_shared(tg_argv[0]::int); return null; end $$`);
  for (const { id, trigger } of Object.values(BARRIERS))
    await knex.raw(`create trigger barrier_${id} ${trigger} execute function pass_barrier(${id})`);
}

/** Functions of the schema that limit their waits for locks wait without a limit, so that a slow machine changes no outcome. */
export async function waitForLocksWithoutLimit(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ declare limited regprocedure; begin
      for limited in
        select oid from pg_proc
        where pronamespace = 'public'::regnamespace and array_to_string(proconfig, ' ') like '%lock_timeout=%'
      loop
        execute format('alter function %s set lock_timeout = 0', limited);
      end loop;
    end $$`);
}

/** A lock that other sessions wait for. */
export interface Hold {
  /** Lets waiting sessions continue. Idempotent. */
  release(): Promise<void>;
}

export function closeBarrier(knex: Knex, name: BarrierName): Promise<Hold> {
  return hold(knex, `select pg_advisory_xact_lock(${BARRIERS[name].id})`);
}

/** Blocks even readers of these tables. */
export function lockTables(knex: Knex, tables: string): Promise<Hold> {
  return hold(knex, `lock table ${tables} in access exclusive mode`);
}

/** Runs a statement and keeps its locks until `release`, at the latest until the end of the test. */
export async function hold(knex: Knex, statement: string): Promise<Hold> {
  const trx = await knex.transaction();
  const { close } = closeAfterTest({
    close: async () => {
      if (!trx.isCompleted()) await trx.commit();
    },
  });
  await trx.raw(statement);
  return { release: async () => void (await close()) };
}

/** What a session waits for: a barrier, a table lock, another transaction that wrote the same row, or those that wait for it too. */
export type Wait = 'advisory' | 'relation' | 'transactionid' | 'tuple';

/**
 * Waits until at least `count` Postgres backends wait for this kind of lock, and returns their process ids. There can be more, as orders that
 * are sent together can be written in several batches.
 */
export function whoWait(knex: Knex, count: number, wait: Wait): Promise<number[]> {
  return until(`${count} wait, ${wait}`, async () => {
    const { rows } = await knex.raw<{ rows: { pid: number }[] }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = '${wait}'`,
    );
    return rows.length >= count && rows.map(({ pid }) => pid);
  });
}

/** Waits until the statement that writes orders waits for a lock on their table; a worker has then read their receipts. */
export function untilOrdersAreBeingWritten(knex: Knex): Promise<unknown> {
  return until('orders are being written', async () => {
    const { rows } = await knex.raw(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'relation'
         and query ~ '^\\s*with limited as .*input as materialized'`,
    );
    return rows.length > 0;
  });
}

/** Waits until these workers have put off receipts this often, as they found them, their keys or their orders locked. */
export async function untilPostponed(workers: { adminUrl: string } | { adminUrl: string }[], least = 1): Promise<void> {
  await until('receipts are put off', async () => {
    const gauges = [workers].flat().map(({ adminUrl }) => readGauge(adminUrl, 'worker_postponed_receipts_total'));
    return (await Promise.all(gauges)).reduce((sum, count) => sum + count, 0) >= least;
  });
}
