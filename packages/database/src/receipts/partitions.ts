import { FINAL_STATES } from '@orders/domain';
import type { Knex } from 'knex';
import { removeOldResends } from '../resends/remove-old-resends.ts';

const WEEK = 7 * 24 * 3600 * 1000;
const WEEKS_AHEAD = 4;
const PARTITIONED = [
  { table: 'receipts', key: 'receipt_id', options: 'with (fillfactor = 50)' },
  { table: 'receipt_payloads', key: 'batch_id', options: 'with (toast_tuple_target = 8160)' },
];

/**
 * The smallest UUIDv7 of a moment (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then zeros.
 *
 * @param time Unix milliseconds.
 */
export function firstUuidAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When a UUIDv7 was made, such as the id of a receipt or a batch, in Unix milliseconds. */
export function timeOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

function partitionName(table: string, start: number): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Makes the weekly partitions of this week and the weeks ahead that are missing. What the default partition caught meanwhile for such a
 * week is moved into it.
 *
 * @returns the names of the tables made.
 */
export async function makePartitions(knex: Knex, now = Date.now()): Promise<string[]> {
  const made: string[] = [];
  const thisWeek = Math.floor(now / WEEK) * WEEK;
  for (let start = thisWeek; start <= thisWeek + WEEKS_AHEAD * WEEK; start += WEEK) {
    for (const { table, key, options } of PARTITIONED) {
      const name = partitionName(table, start);
      if (!(await knex.schema.hasTable(name)) && (await makePartition(knex, { table, key, name, start, options })))
        made.push(name);
    }
  }
  return made;
}

async function makePartition(
  knex: Knex,
  { table, key, name, start, options }: { table: string; key: string; name: string; start: number; options: string },
): Promise<boolean> {
  const [from, to] = [firstUuidAt(start), firstUuidAt(start + WEEK)];
  return knex.transaction(async (trx) => {
    // Intake waits behind this lock, so it is asked for briefly; whoever loses tries again later.
    await trx.raw("set local lock_timeout = '3s'");
    await trx.raw(`lock table ${table}_default in access exclusive mode`);
    if (await trx.schema.hasTable(name)) return false;
    await trx.raw(`create table ${name} (like ${table} including all) ${options}`);
    await trx.raw(
      `with moved as (delete from ${table}_default where ${key} >= ? and ${key} < ? returning *) insert into ${name} select * from moved`,
      [from, to],
    );
    await trx.raw(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
    return true;
  });
}

/** Held while a week is checked and dropped, and shared by redrives: nothing else makes a final receipt pending again. */
export const RETENTION_LOCK = 7_310_442;

/**
 * Drops each week's partitions whole once all in them is older than `retention` milliseconds, by Postgres' clock, and final,
 * and the week before it is gone.
 *
 * @returns the weeks dropped, and those kept only because a receipt in them, or in a week before, is not final.
 */
export async function dropOldPartitions(knex: Knex, retention: number): Promise<{ dropped: string[]; kept: string[] }> {
  const result = { dropped: [] as string[], kept: [] as string[] };
  const { rows } = await knex.raw<{ rows: { now: Date }[] }>('select now() as now');
  const horizon = (rows[0]?.now.getTime() ?? 0) - retention;
  let goneBefore: number | null = null;
  for (const start of await partitionStarts(knex)) {
    if (start + WEEK > horizon) continue;
    const name = partitionName('receipts', start);
    if (await dropIfFinal(knex, start)) {
      result.dropped.push(name);
      goneBefore = start + WEEK;
    } else result.kept.push(name);
  }
  // Afterwards, as long as that takes: a worker that dies here leaves it to the next week.
  if (goneBefore !== null) await removeOldResends(knex, firstUuidAt(goneBefore));
  return result;
}

async function dropIfFinal(knex: Knex, start: number): Promise<boolean> {
  return knex.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(?)', [RETENTION_LOCK]);
    const receipts = partitionName('receipts', start);
    // Another worker may have dropped it while this one waited.
    if (!(await trx.schema.hasTable(receipts))) return true;
    // A batch is named after its receipts, so the bodies of a week's last receipts may lie in the week after it.
    if (await trx.schema.hasTable(partitionName('receipts', start - WEEK))) return false;
    const pending = await trx(receipts).whereNotIn('state', FINAL_STATES).first('receipt_id');
    if (pending) return false;
    const [first, end] = [new Date(start), new Date(start + WEEK)];
    await trx('dead_letters')
      .whereBetween('receipt_id', [firstUuidAt(start), firstUuidAt(start + WEEK)])
      .delete();
    await trx('activity').where('bucket_start', '>=', first).where('bucket_start', '<', end).delete();
    // Last, as intake waits from here on.
    await trx.raw("set local lock_timeout = '3s'");
    for (const { table } of PARTITIONED) await trx.raw(`drop table ${partitionName(table, start)}`);
    return true;
  });
}

async function partitionStarts(knex: Knex): Promise<number[]> {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass order by 1",
  );
  return rows.flatMap(({ name }) => {
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
    return year ? [Date.UTC(Number(year), Number(month) - 1, Number(day))] : [];
  });
}
