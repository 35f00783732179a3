import { describe, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { hold, lockTables } from '../harness/barriers.ts';
import { moveClock, stopClock } from '../harness/clock.ts';
import { describeQueues, QUEUE_KIND } from '../harness/queue.ts';
import { exchange, head } from '../harness/raw-http.ts';
import { readGauge } from '../harness/read-metrics.ts';
import { type RunningIntake, type TestAccount, withStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

describe('orders above the limit of intake', () => {
  const { stack } = useStack({ queue: QUEUE_KIND });

  const inFlight = (intake: RunningIntake, kind: 'orders' | 'batches', count: number) =>
    until(
      `${count} ${kind} in flight`,
      async () => (await readGauge(intake.adminUrl, `intake_${kind}_in_flight`)) === count,
    );

  const requestsOf = (intake: RunningIntake, status: string, code: string) =>
    readGauge(intake.adminUrl, 'intake_requests_total', { route: 'none', status, code });

  test('wait up to a second or are rejected: one account uses at most half of the slots and two use two thirds', async () => {
    const { knex } = stack.database;
    const intake = await stack.intake({ MAX_IN_FLIGHT: '20' });
    const [flooding, other] = [await stack.account(), await stack.account()];
    await intake.api.order(flooding, { source_order_id: 'known' });
    await intake.api.order(other, { source_order_id: 'known' });
    const replies: Reply[] = [];
    const send = (account: TestAccount, name: string, count: number) =>
      Array.from({ length: count }, async (_, index) => {
        const reply = await intake.api.order(account, { source_order_id: `${name}-${index}` });
        replies.push(reply);
        return reply;
      });
    const statuses = () => replies.map(({ status }) => status);
    /** Two orders can wait for each slot, and an account alone gets half of these places. */
    const flood = async (name: string) => {
      const inSlots = send(flooding, `${name} in slots`, 10);
      await inFlight(intake, 'orders', 10);
      const above = send(flooding, `${name} above`, 50);
      await until('orders without a place are rejected', async () => replies.length === 30);
      expect(await readGauge(intake.adminUrl, 'intake_requests_waiting')).toBe(20);
      return [...inSlots, ...above];
    };

    const goOn = stopClock();
    const lock = await lockTables(knex, 'receipts');
    const first = await flood('first');
    // This account gets half of the slots that the first one left.
    const beside = send(other, 'beside', 5);
    await inFlight(intake, 'orders', 15);
    expect(statuses()).toEqual(Array(30).fill(503));
    for (const { headers, body } of replies) {
      expect(body).toMatchObject({ code: 'overloaded', status: 503, request_id: headers['x-request-id'] });
      expect(body.type).toBe('/docs/senders/errors#overloaded');
      expect(headers).toMatchObject({ 'retry-after': '2', 'cache-control': 'no-store' });
    }
    await lock.release();
    await Promise.all([...first, ...beside]);
    expect(statuses().slice(30)).toEqual(Array(35).fill(202));

    replies.length = 0;
    const secondLock = await lockTables(knex, 'receipts');
    const second = await flood('second');
    await moveClock(1);
    await until('the others waited for a second', async () => replies.length === 50);
    expect(statuses()).toEqual(Array(50).fill(503));
    await secondLock.release();
    await Promise.all(second);
    goOn();

    const again = await Promise.all(send(flooding, 'again', 10));
    expect(again.map(({ status }) => status)).toEqual(Array(10).fill(202));
    expect(await knex('receipts').count('* as receipts').first()).toEqual({ receipts: 57 });
    expect(await requestsOf(intake, '503', 'overloaded')).toBe(80);
    await until('the log says how many, once a second', async () => {
      const counts = [...intake.log.text().matchAll(/"rejected":(\d+)/g)].map(([, count]) => Number(count));
      return counts.reduce((sum, count) => sum + count, 0) === 80;
    });
  });

  test('that wait leave their place when their client disconnects', async () => {
    // An account alone gets one of two slots, and two of four places to wait.
    const intake = await stack.intake({ MAX_IN_FLIGHT: '2' });
    const account = await stack.account();
    await intake.api.order(account, { source_order_id: 'known' });
    const send = async (name: string, signal?: AbortSignal) => {
      const response = await fetch(`${intake.api.url}/ingest/orders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ source_order_id: name }),
        signal: signal ?? null,
      });
      return response.status;
    };
    const goOn = stopClock();
    const lock = await lockTables(stack.database.knex, 'receipts');
    const inSlot = send('in the slot');
    await inFlight(intake, 'orders', 1);
    const clients = new AbortController();
    const gone = ['one', 'two', 'three'].map((name) => send(name, clients.signal));
    expect(await Promise.race(gone)).toBe(503);
    clients.abort();
    await Promise.allSettled(gone);
    await until('both are counted as disconnected', async () => (await requestsOf(intake, '499', '')) === 2);
    const later = ['four', 'five', 'six'].map((name) => send(name));
    expect(await Promise.race(later)).toBe(503);
    await lock.release();
    expect((await Promise.all([inSlot, ...later])).toSorted()).toEqual([202, 202, 202, 503]);
    goOn();
  });

  test('batches have their own slots: one account uses at most half of them, and single orders are not blocked', async () => {
    const { knex } = stack.database;
    // A 64th of MAX_IN_FLIGHT is for batches: four slots.
    const intake = await stack.intake({ MAX_IN_FLIGHT: '256' });
    const [flooding, other] = [await stack.account(), await stack.account()];
    await intake.api.order(flooding, { source_order_id: 'known' });
    await intake.api.order(other, { source_order_id: 'known' });
    const batch = (name: string) =>
      Array.from({ length: 100 }, (_, index) => ({ source_order_id: `${name} ${index}` }));

    const lock = await lockTables(knex, 'receipts');
    const flood = [intake.api.batch(flooding, batch('flood 1')), intake.api.batch(flooding, batch('flood 2'))];
    await inFlight(intake, 'batches', 2);
    const beyond = await Promise.all(['flood 3', 'flood 4'].map((name) => intake.api.batch(flooding, batch(name))));
    for (const { status, body } of beyond) expect([status, body.code]).toEqual([503, 'overloaded']);
    const third = await stack.account();
    const beside = [intake.api.batch(other, batch('beside 1'))];
    await inFlight(intake, 'batches', 3);
    expect((await intake.api.batch(other, batch('beside 2'))).body.code).toBe('overloaded');
    beside.push(intake.api.batch(third, batch('beside 3')));
    await inFlight(intake, 'batches', 4);
    const target = `POST ${intake.api.url}/ingest/orders/batch HTTP/1.1`;
    const inAbsoluteForm = head(target, [
      ['Host', 'x'],
      ['Authorization', `Bearer ${(await stack.account()).key}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', 2],
    ]);
    expect((await exchange(intake.api.url, inAbsoluteForm, '[]'))?.body.code).toBe('overloaded');
    const single = intake.api.order(flooding, { source_order_id: 'single' });
    await inFlight(intake, 'orders', 1);
    await lock.release();
    for (const reply of await Promise.all([...flood, ...beside])) {
      expect([reply.status, reply.body.accepted]).toEqual([202, 100]);
    }
    expect((await single).status).toBe(202);
    await inFlight(intake, 'batches', 0);
  });
});

/** Orders of an account in one second that are processed like those of others; `FAIR_SHARE` of intake. */
const FAIR_SHARE = 50;

describeQueues('fairness, the queue on %s', (kind) => {
  test.each(['one by one', 'in batches'])('a flood of one account, %s, does not delay the orders of another', (how) =>
    withStack(kind, async (stack) => {
      const { knex } = stack.database;
      const slowTimers = { SWEEP_AFTER: '10m' };
      const intake = await stack.intake(slowTimers);
      await stack.worker(slowTimers);
      const [flooding, quiet] = [await stack.account(), await stack.account()];
      const written = async () => (await knex('orders').where({ account_id: flooding.id }).pluck('order_id')).length;
      // All of it arrives in one second.
      const goOn = stopClock();
      const within = Array.from({ length: FAIR_SHARE }, (_, index) => ({ source_order_id: `within-${index}` }));
      await Promise.all(within.map((order) => intake.api.order(flooding, order)));
      await until('the fair share is written', async () => (await written()) === FAIR_SHARE);
      await knex.raw(`
        create function wait_here() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(81); return new; end $$;
        create trigger wait_here before insert on orders for each row when (new.account_id = ${flooding.id})
        execute function wait_here()`);
      // More than the worker takes at once.
      const held = await hold(knex, 'select pg_advisory_xact_lock(81)');
      try {
        for (let batch = 0; batch < 7; batch += 1) {
          const orders = Array.from({ length: 100 }, (_, index) => ({ source_order_id: `flood-${batch}-${index}` }));
          if (how === 'in batches') await intake.api.batch(flooding, orders);
          else await Promise.all(orders.map((order) => intake.api.order(flooding, order)));
        }
        goOn();
        expect(await intake.api.process(quiet, { source_order_id: 'quiet' })).toMatchObject({ status: 'written' });
        expect(await written()).toBe(FAIR_SHARE);
      } finally {
        await held.release();
      }
      await until('the flood is written too', async () => (await written()) === FAIR_SHARE + 700);
    }),
  );
});
