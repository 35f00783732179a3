import { randomUUID } from 'node:crypto';
import type { Order } from '@orders/domain/order.ts';
import { type Severity, severityOf } from '@orders/domain/severity.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { dispatchOrders } from '@orders/worker/dispatch-orders.ts';
import type { Knex } from 'knex';
import type { PooledDatabase } from './use-stack.ts';

/** Lets a test decide when there are statistics: autovacuum may take them at any time. */
export async function stopAutovacuum(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ declare name text; begin
      for name in select oid::regclass from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', name);
      end loop;
    end $$`);
}

/** Runs work on its own connections, because Postgres counts reads of a connection at its end or seconds later. */
export async function apart<T>(db: PooledDatabase, work: (knex: Knex) => PromiseLike<T>): Promise<T> {
  const knex = openKnex({ url: db.directUrl, applicationName: 'apart' });
  const done = await work(knex);
  await knex.destroy();
  await until('its connections are gone', async () => {
    const { rows } = await db.knex.raw("select from pg_stat_activity where application_name = 'apart'");
    return rows.length === 0;
  });
  return done;
}

/** A filter that matches every order. */
export const NO_FILTER = {
  searchTerms: null,
  channel: null,
  emirate: null,
  severity: null,
  source: null,
  mark: null,
  writtenAfter: null,
  writtenBefore: null,
};

function severityOfColumns(columns: Record<string, unknown>): Severity {
  const text = (name: string) => (columns[name] ?? null) as string | null;
  const customer = { name: null, phone: text('customer_phone'), email: null, id: null };
  const items = JSON.parse(text('items') ?? '[]');
  const order = { customer, address: text('address'), emirate_code: text('emirate_code'), items } as Order;
  return severityOf(order, JSON.parse(text('warnings') ?? '[]'));
}

/** Inserts an order with its key, with simple defaults. */
export async function insertOrder(
  knex: Knex,
  accountId: number,
  columns: Record<string, unknown> = {},
): Promise<number> {
  const id = randomUUID();
  const row = {
    account_id: accountId,
    source_order_id: id,
    order_number: columns.source_order_id ?? id,
    channel: 'rest',
    receipt_id: randomUUID(),
    items: '[]',
    warnings: '[]',
    severity: severityOfColumns(columns),
    currency: 'AED',
    received_at: new Date(),
    ...columns,
  };
  const [inserted] = await knex('orders').insert(row).returning(['account_id', 'source_order_id', 'order_id']);
  await knex('order_keys').insert(inserted);
  return inserted.order_id;
}

/** Moves the last review of orders by `seconds` into the past, and the time at which confirmed ones are dispatched. */
export async function makeReviewOlder(knex: Knex, orderIds: readonly number[], seconds: number): Promise<void> {
  const earlier = (column: string) => ({ [column]: knex.raw("?? - ? * interval '1 second'", [column, seconds]) });
  await knex('orders').whereIn('order_id', orderIds).update(earlier('reviewed_at'));
  await knex('undispatched_orders').whereIn('order_id', orderIds).update(earlier('due_at'));
}

/** Lets an order that was just confirmed be dispatched. */
export async function dispatch(knex: Knex, orderId: number): Promise<void> {
  await makeReviewOlder(knex, [orderId], 60);
  await knex('undispatched_orders').where({ order_id: orderId }).update({ due_at: knex.fn.now() });
  // A worker may be doing it at the moment.
  await until('the order is dispatched', async () => {
    await dispatchOrders(connectionOf(knex));
    return knex('dispatch_log').where({ order_id: orderId, is_cancellation: false }).first();
  });
}

/** Gives people an hour more to undo the reviews of orders that are stored. */
export async function extendUndo(knex: Knex, orderIds: readonly number[]): Promise<void> {
  await makeReviewOlder(knex, orderIds, -3600);
}

/** Inserts many orders with their keys, by default written an hour ago, and returns their ids in ascending order. */
export async function insertOrders(
  knex: Knex,
  accountId: number,
  count: number,
  { customer_name = 'Common', written_at = new Date(Date.now() - 3_600_000) } = {},
): Promise<number[]> {
  const { rows } = await knex.raw<{ rows: { order_id: number }[] }>(
    `with inserted as (
       insert into orders (account_id, source_order_id, order_number, channel, customer_name, receipt_id, items, warnings, severity, currency,
                           received_at, written_at)
       select :accountId, gen_random_uuid(), 'x', 'rest', :customer_name, gen_random_uuid(), '[]', '[]', 'blocks', 'AED', :written_at, :written_at
       from generate_series(1, :count::int)
       returning account_id, source_order_id, order_id
     )
     insert into order_keys (account_id, source_order_id, order_id) select * from inserted
     returning order_id`,
    { accountId, count, customer_name, written_at },
  );
  return rows.map(({ order_id }) => order_id).toSorted((a, b) => a - b);
}
