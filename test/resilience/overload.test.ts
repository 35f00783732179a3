import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import type { Reply } from '../harness/api.ts';
import { describeQueues } from '../harness/queue.ts';
import { exchange, head } from '../harness/raw-http.ts';
import { type Stack, startStack, type TestAccount, withStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

describe('orders above the limit of intake', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack('redis');
  });

  test('are rejected, one account uses at most half of the slots and two use two thirds, and all slots are free afterwards', async () => {
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

    const lock = await knex.transaction();
    await lock.raw('lock table receipts in access exclusive mode');
    const flood = send(flooding, 'flood', 60);
    await until('orders above half of the slots are rejected', async () => replies.length === 50);
    // This account gets half of the slots that the first one left.
    const beside = send(other, 'beside', 5);
    await until('the other account has its share', async () => {
      const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
      return /^intake_orders_in_flight 15$/m.test(metrics);
    });
    expect(statuses()).toEqual(Array(50).fill(503));
    for (const { headers, body } of replies) {
      expect(body).toMatchObject({ code: 'overloaded', status: 503, request_id: headers['x-request-id'] });
      expect(body.type).toBe('/docs/senders/errors#overloaded');
      expect(headers).toMatchObject({ 'retry-after': '2', 'cache-control': 'no-store' });
    }
    await lock.commit();
    await Promise.all([...flood, ...beside]);
    expect(statuses().filter((status) => status === 202)).toHaveLength(15);

    const again = await Promise.all(send(flooding, 'again', 10));
    expect(again.map(({ status }) => status)).toEqual(Array(10).fill(202));
    expect(await knex('receipts').count('* as receipts').first()).toEqual({ receipts: 27 });
    await until('the log says how many, once a second', async () => {
      const counts = [...intake.log.text().matchAll(/"rejected":(\d+)/g)].map(([, count]) => Number(count));
      return counts.reduce((sum, count) => sum + count, 0) === 50;
    });
  });

  test('batches have their own slots: one account uses at most half of them, and single orders are not blocked', async () => {
    const { knex } = stack.database;
    // A 64th of MAX_IN_FLIGHT is for batches: four slots.
    const intake = await stack.intake({ MAX_IN_FLIGHT: '256', PG_QUERY_TIMEOUT: '50s' });
    const [flooding, other] = [await stack.account(), await stack.account()];
    await intake.api.order(flooding, { source_order_id: 'known' });
    await intake.api.order(other, { source_order_id: 'known' });
    const inFlight = (count: number) =>
      until(`${count} batches in flight`, async () => {
        const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
        return new RegExp(`^intake_batches_in_flight ${count}$`, 'm').test(metrics);
      });
    const batch = (name: string) =>
      Array.from({ length: 100 }, (_, index) => ({ source_order_id: `${name} ${index}` }));

    const lock = await knex.transaction();
    await lock.raw('lock table receipts in access exclusive mode');
    const flood = [intake.api.batch(flooding, batch('flood 1')), intake.api.batch(flooding, batch('flood 2'))];
    await inFlight(2);
    const beyond = await Promise.all(['flood 3', 'flood 4'].map((name) => intake.api.batch(flooding, batch(name))));
    for (const { status, body } of beyond) expect([status, body.code]).toEqual([503, 'overloaded']);
    const third = await stack.account();
    const beside = [intake.api.batch(other, batch('beside 1'))];
    await inFlight(3);
    expect((await intake.api.batch(other, batch('beside 2'))).body.code).toBe('overloaded');
    beside.push(intake.api.batch(third, batch('beside 3')));
    await inFlight(4);
    const target = `POST ${intake.api.url}/ingest/orders/batch HTTP/1.1`;
    const inAbsoluteForm = head(target, [
      ['Host', 'x'],
      ['Authorization', `Bearer ${(await stack.account()).key}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', 2],
    ]);
    expect((await exchange(intake.api.url, inAbsoluteForm, '[]'))?.body.code).toBe('overloaded');
    const single = intake.api.order(flooding, { source_order_id: 'single' });
    await until('the single order has a slot', async () => {
      const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
      return /^intake_orders_in_flight 1$/m.test(metrics);
    });
    await lock.commit();
    for (const reply of await Promise.all([...flood, ...beside])) {
      expect([reply.status, reply.body.accepted]).toEqual([202, 100]);
    }
    expect((await single).status).toBe(202);
    await inFlight(0);
  });
});

describeQueues('fairness, the queue on %s', (kind) => {
  test.each(['one by one', 'in batches'])('a flood of one account, %s, does not delay the orders of another', (how) =>
    withStack(kind, async (stack) => {
      const { knex } = stack.database;
      const slowTimers = { LEASE: '30s', SWEEP_AFTER: '60s' };
      const intake = await stack.intake(slowTimers);
      const [flooding, quiet] = [await stack.account(), await stack.account()];
      await knex.raw(`
        create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.005); return new; end $$;
        create trigger be_slow before insert on orders for each row when (new.account_id = ${flooding.id}) execute function be_slow()`);
      for (let batch = 0; batch < 13; batch += 1) {
        const orders = Array.from({ length: 100 }, (_, index) => ({ source_order_id: `flood-${batch}-${index}` }));
        if (how === 'in batches') await intake.api.batch(flooding, orders);
        else await Promise.all(orders.map((order) => intake.api.order(flooding, order)));
      }
      const { body } = await intake.api.order(quiet, { source_order_id: 'quiet' });
      await stack.worker(slowTimers);
      const { body: outcome } = await intake.api.final(quiet, body.receipt_id);
      expect(outcome.status).toBe('written');
      const count = async (query: Knex.QueryBuilder) => Number((await query.count('* as orders').first())?.orders);
      // Without fairness it would be among the last 600 orders, in one of the last two jobs.
      expect(await count(knex('orders').where('order_id', '<', outcome.order_id))).toBeLessThan(1301 - 600);
      await until('the flood is written too', async () => (await count(knex('orders'))) === 1301);
    }),
  );
});
