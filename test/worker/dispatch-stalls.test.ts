import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { recordAudit } from '@orders/database/audit.ts';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { readStalls } from '@orders/intake/observability/read-stalls.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import { PUBLISH_LOCK } from '../../packages/database/src/run.ts';
import { moveClock } from '../harness/clock.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { makeReviewOlder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

/** A role like that of intake: it may read, but not see other sessions. */
const role = `intake_${randomBytes(4).toString('hex')}`;

const { stack, knex, intake, api, database, account } = useStack({
  intake: true,
  worker: true,
  database: true,
  account: true,
});

beforeAll(async () => {
  await knex.raw(`create role ${role} login password 'x'`);
  await knex.raw(`grant select on all tables in schema public to ${role}`);
});
afterAll(async () => {
  await knex.raw(`drop owned by ${role}`);
  await knex.raw(`drop role ${role}`);
});

const shown = (orderId: number) => knex('dispatchable_orders').where({ order_id: orderId }).first();

const begun: Knex.Transaction[] = [];
/** Ends the transactions of a test. */
const endAll = async () => {
  for (const trx of begun.splice(0)) await trx.rollback();
};
afterEach(endAll);

/** Begins a transaction with a statement. @returns a function that reads its age by the clock of Postgres, in seconds. */
async function begin(statement: string): Promise<() => Promise<number>> {
  const trx = await knex.transaction();
  begun.push(trx);
  await trx.raw(statement);
  return async () => (await trx.raw('select extract(epoch from clock_timestamp() - now())::float8 as age')).rows[0].age;
}

/** Waits until a gauge of intake has this value at least. Intake reads them again after 5 seconds. */
const untilGauge = (name: string, least: number) =>
  until(`intake shows ${name}`, async () => {
    await moveClock(5);
    const metrics = await readMetrics(intake.adminUrl);
    return (gaugeOf(metrics, name) ?? 0) >= least && metrics;
  });

/** An order whose undo time is over since 90 seconds. */
async function confirmed(source_order_id: string): Promise<number> {
  const { order_id } = await api.process(account, { source_order_id });
  const review = { accountId: account.id, orderIds: [order_id], to: 'confirmed' as const, by: 'me@shop.example' };
  expect(await reviewOrders(connectionOf(knex), review)).toMatchObject({ changed: [order_id] });
  await makeReviewOlder(knex, [order_id], 100);
  return order_id;
}

test('the age of the oldest confirmed order that should be dispatched is reported until it is', async () => {
  const delay = async () => (await readStalls(database)).dispatchDelaySeconds;
  await begin(`select pg_advisory_xact_lock(${PUBLISH_LOCK})`);
  const orderId = await confirmed('held up');
  expect(await delay()).toBeGreaterThanOrEqual(90);
  await untilGauge('orders_dispatch_delay_seconds', 90);
  expect(await shown(orderId)).toBeUndefined();
  await endAll();
  await until('it is shown', () => shown(orderId));
  expect(await delay()).toBe(0);
});

test('an order that can still be undone is not counted as delayed', async () => {
  const orderId = await confirmed('undone in time');
  await until('it is shown', () => shown(orderId));
  const { order_id } = await api.process(account, { source_order_id: 'just now' });
  await reviewOrders(connectionOf(knex), { accountId: account.id, orderIds: [order_id], to: 'confirmed', by: 'x' });
  await makeReviewOlder(knex, [order_id], -3600);
  expect((await readStalls(database)).dispatchDelaySeconds).toBe(0);
});

test('a long transaction that has written is reported with its age, and holds up nothing', async () => {
  const readAge = await begin('select pg_current_xact_id()');
  const orderId = await confirmed('not held up');
  await until('it is shown', () => shown(orderId));
  const least = await readAge();
  expect((await readStalls(database)).oldestWritingSeconds).toBeGreaterThanOrEqual(least);
  const metrics = await untilGauge('postgres_oldest_transaction_seconds', 0);
  const kinds = metrics.get('postgres_oldest_transaction_seconds')?.samples.map(({ labels }) => labels.kind);
  expect(kinds?.toSorted()).toEqual(['reading', 'writing']);
});

test('the age of the oldest due event is reported until it is published', async () => {
  const oldest = async () => (await readStalls(database)).oldestUnpublishedEventSeconds;
  const move = (seconds: number) =>
    knex('unpublished_events').update({ due_at: knex.raw('now() + ?::interval', [`${seconds} s`]) });
  const ofEvents = await stack.account();
  await setEvents(connectionOf(knex), ofEvents.id, true);
  await begin(`select pg_advisory_xact_lock(${PUBLISH_LOCK})`);
  await api.process(ofEvents, { source_order_id: 'not told' });
  await move(3600);
  expect(await oldest()).toBe(0);
  await move(-100);
  expect(await oldest()).toBeGreaterThanOrEqual(100);
  await untilGauge('orders_oldest_unpublished_event_seconds', 100);
  await endAll();
  await until('it is published', async () => (await oldest()) === 0);
});

test('the age of the oldest audit event without a position in the chain is reported', async () => {
  const oldest = async () => (await readStalls(database)).oldestUnchainedAuditEventSeconds;
  await begin('select from audit_chain_lock for update');
  await recordAudit(connectionOf(knex), { accountId: null, actor: 'x', action: 'x', subject: 'x' });
  await knex('unchained_audit_events').update({ queued_at: knex.raw("now() - interval '100 s'") });
  expect(await oldest()).toBeGreaterThanOrEqual(100);
  await untilGauge('orders_oldest_unchained_audit_event_seconds', 100);
  await endAll();
  await until('it is chained', async () => (await oldest()) === 0);
});

test('a transaction that only reads is reported separately', async () => {
  // Only then does it keep its snapshot between statements.
  const readAge = await begin('set transaction isolation level repeatable read read only');
  const least = await readAge();
  expect((await readStalls(database)).oldestReadingSeconds).toBeGreaterThanOrEqual(least);
});

test('without the right to see other sessions their ages are absent, and the delay of dispatching is reported', async () => {
  const url = new URL(stack.database.directUrl);
  [url.username, url.password] = [role, 'x'];
  await begin('select pg_current_xact_id()');
  const asRole = openDatabase({ url: url.href, poolSize: 1, prepared: false });
  expect(await readStalls(asRole)).toEqual({
    oldestWritingSeconds: null,
    oldestReadingSeconds: null,
    dispatchDelaySeconds: 0,
    oldestCancellationRequestSeconds: 0,
    oldestUnpublishedEventSeconds: 0,
    oldestUndeliveredEventSeconds: 0,
    oldestUnchainedAuditEventSeconds: 0,
    enabledEndpoints: 0,
    failingEndpoints: 0,
  });
  const limitedIntake = await stack.intake({ DATABASE_URL: url.href, PG_PREPARED: 'on' });
  const metrics = await until('the delay is read in time', async () => {
    await moveClock(5);
    const read = await readMetrics(limitedIntake.adminUrl);
    return gaugeOf(read, 'orders_dispatch_delay_seconds') !== undefined && read;
  });
  expect(metrics.get('postgres_oldest_transaction_seconds')?.samples ?? []).toEqual([]);
  expect(gaugeOf(metrics, 'orders_dispatch_delay_seconds')).toBe(0);
  await limitedIntake.close();

  await knex.raw(`grant pg_read_all_stats to ${role}`);
  expect((await readStalls(asRole)).oldestWritingSeconds).toBeGreaterThan(0);
  await closeDatabase(asRole);
});
