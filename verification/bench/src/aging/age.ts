import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { readConfig } from '@orders/worker/config.ts';
import type { Knex } from 'knex';

const DAY_MS = 24 * 3_600_000;
const WEEK_MS = 7 * DAY_MS;
/** The default times of the worker. */
const { IDEMPOTENCY_TTL, RECEIPT_RETENTION } = readConfig({ DATABASE_URL: 'postgres://x', QUEUE_URL: 'redis://x' });
/** Weeks that reach the end of their retention in each cycle. */
const WEEKS = 2;

/** Adds keys, half of them expired, and weeks of final receipts past their retention. */
export async function age(knex: Knex, { cycle, keys, receipts }: { cycle: number; keys: number; receipts: number }) {
  await addKeys(knex, keys, 2);
  const start = Math.floor((Date.now() - RECEIPT_RETENTION) / WEEK_MS) * WEEK_MS - (WEEKS * (cycle + 1) + 1) * WEEK_MS;
  await createPartitions(connectionOf(knex), start);
  for (let week = 0; week < WEEKS; week += 1) {
    await knex.raw(
      `with made as (
         select overlay(gen_random_uuid()::text placing left(:first, 13) from 1 for 13)::uuid as id from generate_series(1, :receipts)
       ), bodies as (
         insert into receipt_payloads (batch_id, account_id, bodies) select id, 1, '{}'::bytea from made
       )
       insert into receipts (receipt_id, account_id, state, channel, source_order_id, batch_id, body_start, body_length)
       select id, 1, 'written', 'rest', id::text, id, 1, 2 from made`,
      { first: firstUuidAt(start + week * WEEK_MS), receipts },
    );
  }
}

/** @param expiredEvery 1 if all keys are expired, 2 for every second one. */
export async function addKeys(knex: Knex, keys: number, expiredEvery: number): Promise<void> {
  await knex.raw(
    `insert into idempotency_keys (account_id, idempotency_key, receipt_id, created_at)
     select 1, gen_random_uuid()::text, gen_random_uuid(),
            now() - case when i % ? = 0 then ? else random() * ? end * interval '1 ms'
     from generate_series(1, ?) as i`,
    [expiredEvery, IDEMPOTENCY_TTL * 1.01, IDEMPOTENCY_TTL / 2, keys],
  );
}

const EXPIRED = `created_at < now() - ${IDEMPOTENCY_TTL} * interval '1 ms'`;

export async function countExpired(knex: Knex): Promise<number> {
  const { rows } = await knex.raw(`select count(*) as count from idempotency_keys where ${EXPIRED}`);
  return rows[0].count;
}

/** The number of partitions of receipts and bodies past their retention. */
export async function countOldPartitions(knex: Knex): Promise<number> {
  const before = new Date(Date.now() - RECEIPT_RETENTION - WEEK_MS).toISOString().slice(0, 10).replaceAll('-', '');
  const { rows } = await knex.raw(
    `select count(*) as count from pg_class
     where relkind = 'r' and relname ~ '^receipt(s|_payloads)_\\d+$' and left(substring(relname from '\\d+$'), 8) < ?`,
    [before],
  );
  return rows[0].count;
}

/** The number of pages that one search for expired keys reads, and the total. */
export async function pagesRead(knex: Knex): Promise<{ read: number; total: number }> {
  const plan = await knex.transaction(async (trx) => {
    // The removal uses the same plan settings.
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_seqscan = off');
    const { rows } = await trx.raw(
      `explain (analyze, buffers, format json)
       select ctid from idempotency_keys where ${EXPIRED} order by created_at limit 5000`,
    );
    return rows[0]['QUERY PLAN'][0].Plan;
  });
  const { rows } = await knex.raw(
    "select pg_relation_size('idempotency_keys') / current_setting('block_size')::int as total",
  );
  return { read: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], total: rows[0].total };
}

/** The share of receipt updates that stayed on their page (HOT) since the database was created. */
export async function hotShare(knex: Knex): Promise<number> {
  const { rows } = await knex.raw(
    `select sum(n_tup_hot_upd)::float8 / nullif(sum(n_tup_upd), 0) as share
     from pg_stat_user_tables where relname like 'receipts\\_%'`,
  );
  return rows[0].share ?? Number.NaN;
}
