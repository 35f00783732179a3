import { expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { createEndpoint, pauseEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { readStalls } from '@orders/intake/observability/read-stalls.ts';
import { until } from '@orders/test-services/until.ts';
import { moveClock } from '../harness/clock.ts';
import { createTestDatabase, PREPARED } from '../harness/database.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, intake, api } = useStack({ intake: true, worker: true });

const GAUGES = ['orders_oldest_undelivered_event_seconds', 'orders_failing_endpoints', 'orders_enabled_endpoints'];

/** Waits until intake shows these values. */
const untilShown = (what: string, isShown: (oldest: number, failing: number, enabled: number) => boolean) =>
  until(what, async () => {
    // It reads them every five seconds.
    await moveClock(5);
    const metrics = await readMetrics(intake.adminUrl);
    const [oldest, failing, enabled] = GAUGES.map((name) => gaugeOf(metrics, name));
    return oldest !== undefined && failing !== undefined && enabled !== undefined && isShown(oldest, failing, enabled);
  });

/** An account and an endpoint. No notifier runs. */
async function subscribe() {
  const account = await stack.account();
  await setEvents(db, account.id, true);
  const options = { accountId: account.id, url: 'https://hooks.example.com/', types: null };
  const { endpoint_number } = await createEndpoint(db, stack.secretsKey, options);
  const endpoint = { account_id: account.id, endpoint_number };
  return { account, endpoint };
}

test('the age of the oldest untried event is that of enabled endpoints which do not fail', async () => {
  const { account, endpoint } = await subscribe();
  const other = await subscribe();
  await untilShown('nothing is pending', (oldest, failing) => oldest === 0 && failing === 0);
  await api.order(account, { source_order_id: 'told late' });
  await until('the event is published', () => knex('events').first());
  await knex('events').update({ happened_at: knex.raw("happened_at - interval '100000 s'") });
  await untilShown('the event is late', (oldest, failing) => oldest >= 100_000 && failing === 0);

  await knex('endpoints').where(endpoint).update({ failing_since: knex.fn.now() });
  await knex('endpoints').where(other.endpoint).update({ failing_since: knex.fn.now() });
  await untilShown('both endpoints fail', (oldest, failing) => oldest === 0 && failing === 2);

  await pauseEndpoint(db, other.endpoint);
  await untilShown('one of them is paused', (_oldest, failing, enabled) => failing === 1 && enabled === 1);
  await knex('endpoints').where(endpoint).update({ failing_since: null, disabled: 'gone' });
  await untilShown('the other is disabled', (oldest, failing) => oldest === 0 && failing === 0);
});

test('endpoints of test accounts are not counted', async () => {
  const { account, endpoint } = await subscribe();
  const live = await stack.account();
  const shown = async () => {
    const { oldestUndeliveredEventSeconds, enabledEndpoints, failingEndpoints } = await readStalls(db);
    return [oldestUndeliveredEventSeconds >= 200_000, enabledEndpoints, failingEndpoints] as const;
  };
  await api.order(account, { source_order_id: 'a test' });
  const { account_id } = endpoint;
  await until('the event is published', () => knex('events').where({ account_id }).first());
  await knex('events')
    .where({ account_id })
    .update({ happened_at: knex.raw("happened_at - interval '200000 s'") });
  const [, enabled, failing] = await shown();
  expect(await shown()).toEqual([true, enabled, failing]);
  await knex('accounts').where({ account_id }).update({ test_of: live.id });
  expect(await shown()).toEqual([false, enabled - 1, failing]);
  await knex('endpoints').where(endpoint).update({ failing_since: knex.fn.now() });
  expect(await shown()).toEqual([false, enabled - 1, failing]);
});

test('reading them costs the same for many events, also if planned for empty tables', async () => {
  const db = await createTestDatabase();
  const database = openDatabase({ url: db.url, poolSize: 1, prepared: PREPARED });
  const readsOfEvents = async () => {
    await database.pool.query('select pg_stat_force_next_flush()');
    const { rows } = await database.pool.query(`
      select seq_tup_read + idx_tup_fetch as rows from pg_stat_user_tables where relname = 'events'`);
    return Number(rows[0].rows);
  };
  for (let time = 0; time < 6; time += 1)
    expect(await readStalls(database)).toMatchObject({ oldestUndeliveredEventSeconds: 0, failingEndpoints: 0 });
  await db.knex.raw(`
    with account as (insert into accounts (name) values ('many') returning account_id),
    log as (
      insert into event_logs (account_id, is_enabled, last_sequence) select account_id, true, 20000 from account returning account_id
    ), endpoint as (
      insert into endpoints (account_id, endpoint_id, url, sealed, delivered_to) select account_id, 'ep_1', 'https://x.test', '', 5000 from log
    )
    insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, details)
    select account_id, n, gen_random_uuid(), 'receipt.written', now() - (20000 - n) * interval '1000 seconds', gen_random_uuid(), 'x', '{}'
    from log, generate_series(1, 20000) as n`);
  const before = await readsOfEvents();
  const { oldestUndeliveredEventSeconds: seconds } = await readStalls(database);
  expect(Math.round(seconds / 100_000)).toBe(150);
  expect((await readsOfEvents()) - before).toBeLessThanOrEqual(2);
  await closeDatabase(database);
  await db.close();
});
