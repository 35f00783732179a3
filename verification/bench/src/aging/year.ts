import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { listReview } from '@orders/portal/review/list-review.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import type { Knex } from 'knex';
import { median } from '../measure/statistics.ts';
import type { Running } from '../start-contestant.ts';

const MAIN = join(import.meta.dirname, '../../../../apps/cli/src/main.ts');
const TIMES = 20;

/** What a year did to one database. Times are milliseconds, of the median of twenty. */
export interface Year {
  keys: number;
  waiting: number;
  /** Of a page of the list, of a search for one order, and of the look-up of a receipt of an old order: at first, and at the end. */
  pages: Record<'list' | 'search' | 'lookup', [before: number, after: number]>;
  archived: { months: number; orders: number; seconds: number };
  erasedSeconds: number[];
}

/**
 * Adds a year of orders, month by month as a worker would, and orders of one account that wait; then archives the older half of the year,
 * and erases customers of the rest.
 */
export async function passYear(
  { databaseUrl, accountIds: [accountId = 0] }: Running,
  knex: Knex,
  { months, monthOrders, waiting }: { months: number; monthOrders: number; waiting: number },
): Promise<Year> {
  const before = await timePages(databaseUrl, accountId);
  for (let month = 0; month < months; month += 1) {
    await addOrders(knex, { accountId, count: monthOrders, state: 'confirmed' });
    await beginNextMonth(knex, months - month);
  }
  await addOrders(knex, { accountId, count: waiting, state: 'needs_review' });
  await knex.raw('analyze orders, order_keys');
  while ((await fillSearchTerms(connectionOf(knex))) > 0);
  const archived = await archiveHalf(databaseUrl, Math.floor(months / 2));
  const erasedSeconds: number[] = [];
  for (const phone of ['+971500000001', '+971500000002', '+971500000003']) {
    const startedAt = performance.now();
    await orders(databaseUrl, 'erase', String(accountId), '--phone', phone, '--json');
    erasedSeconds.push((performance.now() - startedAt) / 1000);
  }
  const after = await timePages(databaseUrl, accountId);
  const [{ keys }] = (await knex.raw('select count(*)::int as keys from order_keys')).rows;
  const pages = Object.fromEntries(
    Object.entries(before).map(([name, ms]) => [name, [ms, after[name as keyof typeof after]]]),
  );
  return { keys, waiting, pages: pages as Year['pages'], archived, erasedSeconds };
}

export function describeYear({ keys, waiting, pages, archived, erasedSeconds }: Year): string {
  const of = (name: keyof Year['pages']) => pages[name].map((ms) => ms.toFixed(1)).join(' → ');
  return [
    `a year later, with ${keys.toLocaleString('en')} keys and ${waiting.toLocaleString('en')} orders that wait: a page of the list ${of('list')} ms`,
    `a search ${of('search')} ms, the order of a key ${of('lookup')} ms`,
    `${archived.months} months with ${archived.orders.toLocaleString('en')} orders archived in ${archived.seconds.toFixed(1)} s`,
    `a customer erased in ${erasedSeconds.map((seconds) => seconds.toFixed(1)).join(', ')} s`,
  ].join('; ');
}

/** In the range that ids come from. */
async function addOrders(knex: Knex, orders: { accountId: number; count: number; state: string }): Promise<void> {
  await knex.raw(
    `with made as (
       insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone, address,
                           emirate, emirate_code, items, total, currency, warnings, severity, review_state, reviewed_at, received_at, written_at)
       select :accountId, gen_random_uuid(), 'SHOP-' || i, 'rest', gen_random_uuid(), 'Aisha Khan ' || i,
              '+9715' || lpad(i::text, 8, '0'), 'Villa ' || i || ', Al Barsha', 'Dubai', 'AE-DU',
              '[{"name": "Karak", "quantity": 2, "sku": "K-1"}]', 10, 'AED', '[]', 'none', :state::text,
              case when :state::text <> 'needs_review' then now() end, now() - interval '2 minutes', now() - interval '2 minutes'
       from generate_series(1, :count::int) as i
       returning account_id, source_order_id, order_id
     )
     insert into order_keys (account_id, source_order_id, order_id) select * from made`,
    orders,
  );
}

/** Ends the month of the current range, and dates it back. The partition is committed first, as by a worker. */
async function beginNextMonth(knex: Knex, monthsAgo: number): Promise<void> {
  await knex.raw('select make_order_partitions()');
  await knex.raw(
    `update order_ranges set began_at = now() - ?::int * interval '1 month'
     where first_id = (select last_value - last_value % order_range_width() from order_ids)`,
    [monthsAgo],
  );
  await knex.raw('select begin_order_range()');
}

async function archiveHalf(databaseUrl: string, months: number): Promise<Year['archived']> {
  const to = await mkdtemp(join(tmpdir(), 'orders-aging-'));
  const startedAt = performance.now();
  const stdout = await orders(databaseUrl, 'archive', '--to', to, '--older-than', `${31 * months}d`, '--json');
  const archived: { orders: number; state: string }[] = JSON.parse(stdout);
  return {
    months: archived.filter(({ state }) => state === 'dropped').length,
    orders: archived.reduce((sum, month) => sum + month.orders, 0),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

async function orders(databaseUrl: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  return (await promisify(execFile)(process.execPath, [MAIN, ...args], { env })).stdout;
}

/** @returns the times of a new connection's statements, after their first run. */
async function timePages(url: string, accountId: number): Promise<Record<'list' | 'search' | 'lookup', number>> {
  const database = openDatabase({ url, poolSize: 1, prepared: true });
  const filter = {
    accountId,
    state: 'needs_review',
    channel: null,
    emirate: null,
    severity: null,
    mark: null,
    source: null,
  } as const;
  const list = (searchTerms: string | null) =>
    listReview(database, { ...filter, searchTerms, writtenAfter: null, writtenBefore: null }, { limit: 50 });
  const lookup = {
    name: 'look-up',
    text: `select o.order_id from (select * from order_keys where account_id = $1::int limit 1) as k
           join orders o on o.account_id = k.account_id and o.order_id = k.order_id`,
    values: [accountId],
  };
  const time = async (work: () => Promise<unknown>) => {
    const times: number[] = [];
    await work();
    for (let run = 0; run < TIMES; run += 1) {
      const startedAt = performance.now();
      await work();
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  try {
    return {
      list: await time(() => list(null)),
      search: await time(() => list('SHOP-77')),
      lookup: await time(() => database.pool.query(lookup)),
    };
  } finally {
    await closeDatabase(database);
  }
}
