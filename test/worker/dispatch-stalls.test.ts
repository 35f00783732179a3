import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  closeDatabase,
  type Database,
  openDatabase,
  readStalls,
  recordAudit,
  reviewOrders,
  setEvents,
} from '@orders/database';
import { PUBLISH_LOCK } from '../../packages/database/src/advisory-locks.ts';
import { hold } from '../harness/barriers.ts';
import { sendOrder } from '../harness/erasure.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** A role like that of intake: it may read, but not see other sessions. */
const role = `intake_${randomBytes(4).toString('hex')}`;

let stack: Stack;
let intake: RunningIntake;
let database: Database;
let account: TestAccount;

beforeAll(async () => {
  stack = await startStack('postgres');
  [intake] = await Promise.all([stack.intake(), stack.worker()]);
  database = stack.openDatabase();
  account = await stack.account();
  await stack.database.knex.raw(`create role ${role} login password 'x'`);
  await stack.database.knex.raw(`grant select on all tables in schema public to ${role}`);
});
afterAll(async () => {
  await stack.database.knex.raw(`drop owned by ${role}`);
  await stack.database.knex.raw(`drop role ${role}`);
});

const shown = (orderId: number) => stack.database.knex('dispatchable_orders').where({ order_id: orderId }).first();

/** An order whose undo time is over. */
async function confirmed(source_order_id: string): Promise<number> {
  const { order_id } = await sendOrder(intake, account, { source_order_id });
  const { knex } = stack.database;
  const review = { accountId: account.id, orderIds: [order_id], to: 'confirmed' as const, by: 'me@shop.example' };
  expect(await reviewOrders(knex, review)).toMatchObject({ changed: [order_id] });
  await knex('orders')
    .where({ order_id })
    .update({ reviewed_at: knex.raw("now() - interval '100 s'") });
  return order_id;
}

test('a long transaction that has written is reported with its age and the delay of dispatching', async () => {
  const startedAt = performance.now();
  const held = await hold(stack.database.knex, 'select pg_current_xact_id()');
  const heldAt = performance.now();
  const orderId = await confirmed('held up');
  const readAt = performance.now();
  const seen = await readStalls(database);
  expect(await shown(orderId)).toBeUndefined();
  expect(seen.dispatchDelaySeconds).toBeGreaterThanOrEqual(90);
  expect(seen.dispatchDelaySeconds).toBeLessThanOrEqual(90 + (performance.now() - startedAt) / 1000 + 1);
  expect(seen.oldestWritingSeconds).toBeGreaterThanOrEqual((readAt - heldAt) / 1000 - 1);
  expect(seen.oldestWritingSeconds).toBeGreaterThan(0);
  const metrics = await until('intake shows it', async () => {
    const metrics = await readMetrics(intake.adminUrl);
    return (gaugeOf(metrics, 'orders_dispatch_delay_seconds') ?? 0) > 0 && metrics;
  });
  const kinds = metrics.get('postgres_oldest_transaction_seconds')?.samples.map(({ labels }) => labels.kind);
  expect(kinds?.toSorted()).toEqual(['reading', 'writing']);
  await held.release();
  await until('it is shown', () => shown(orderId));
  await until('there is no delay', async () => (await readStalls(database)).dispatchDelaySeconds === 0);
});

test('an order that can still be undone is not counted as delayed', async () => {
  const orderId = await confirmed('undone in time');
  await until('it is shown', () => shown(orderId));
  await stack.database.knex('orders').where({ order_id: orderId }).update({ reviewed_at: new Date() });
  expect((await readStalls(database)).dispatchDelaySeconds).toBe(0);
});

test('the age of the oldest due event is reported until it is published', async () => {
  const { knex } = stack.database;
  const oldest = async () => (await readStalls(database)).oldestUnpublishedEventSeconds;
  const move = (seconds: number) =>
    knex('unpublished_events').update({ due_at: knex.raw('now() + ?::interval', [`${seconds} s`]) });
  const ofEvents = await stack.account();
  await setEvents(knex, ofEvents.id, true);
  const held = await hold(knex, `select pg_advisory_xact_lock(${PUBLISH_LOCK})`);
  await sendOrder(intake, ofEvents, { source_order_id: 'not told' });
  await move(3600);
  expect(await oldest()).toBe(0);
  await move(-100);
  expect(await oldest()).toBeGreaterThanOrEqual(100);
  const gauge = async () => gaugeOf(await readMetrics(intake.adminUrl), 'orders_oldest_unpublished_event_seconds') ?? 0;
  await until('intake shows it', async () => (await gauge()) >= 100);
  await held.release();
  await until('it is published', async () => (await oldest()) === 0);
});

test('the age of the oldest audit event without a place in the chain is reported', async () => {
  const { knex } = stack.database;
  const oldest = async () => (await readStalls(database)).oldestUnchainedAuditEventSeconds;
  const held = await hold(knex, 'select from audit_chain_state for update');
  await recordAudit(knex, { accountId: null, actor: 'x', action: 'x', subject: 'x' });
  await knex('unchained_audit_events').update({ queued_at: knex.raw("now() - interval '100 s'") });
  expect(await oldest()).toBeGreaterThanOrEqual(100);
  const gauge = async () =>
    gaugeOf(await readMetrics(intake.adminUrl), 'orders_oldest_unchained_audit_event_seconds') ?? 0;
  await until('intake shows it', async () => (await gauge()) >= 100);
  await held.release();
  await until('it is chained', async () => (await oldest()) === 0);
});

test('a transaction that only reads is reported separately', async () => {
  const { knex } = stack.database;
  const before = performance.now();
  const trx = await knex.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  await trx.raw('select count(*) from orders');
  const heldAt = performance.now();
  const readAt = performance.now();
  const { oldestReadingSeconds } = await readStalls(database);
  expect(oldestReadingSeconds).toBeGreaterThanOrEqual((readAt - heldAt) / 1000 - 1);
  expect(oldestReadingSeconds).toBeGreaterThan(0);
  expect(before).toBeLessThan(heldAt);
  await trx.rollback();
});

test('without the right to see other sessions their ages are absent, and the delay of dispatching is reported', async () => {
  const url = new URL(stack.database.directUrl);
  [url.username, url.password] = [role, 'x'];
  const held = await hold(stack.database.knex, 'select pg_current_xact_id()');
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
    const read = await readMetrics(limitedIntake.adminUrl);
    return gaugeOf(read, 'orders_dispatch_delay_seconds') !== undefined && read;
  });
  expect(metrics.get('postgres_oldest_transaction_seconds')?.samples ?? []).toEqual([]);
  expect(gaugeOf(metrics, 'orders_dispatch_delay_seconds')).toBe(0);
  await limitedIntake.close();

  await stack.database.knex.raw(`grant pg_read_all_stats to ${role}`);
  expect((await readStalls(asRole)).oldestWritingSeconds).toBeGreaterThan(0);
  await closeDatabase(asRole);
  await held.release();
});
