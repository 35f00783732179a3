import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import type { Reply } from '../harness/api.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { exchange, head } from '../harness/raw-http.ts';
import { type Stack, startStack, type TestAccount, withStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

describe('more than intake takes at once', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack('redis');
  });
  afterAll(() => stack.close());

  test('is rejected, one account leaves half of the slots to others and two leave a third, and afterwards all is as before', async () => {
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
    await until('what is beyond half of the slots is rejected', async () => replies.length === 50);
    // Of what the first one left, this account gets half.
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

  test('batches have slots of their own: one account leaves half of them to others, and single orders are not kept out', async () => {
    const { knex } = stack.database;
    // A 64th of it, so four.
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

describe.each(QUEUE_KINDS)('fairness, the queue on %s', (kind) => {
  test.each(['one by one', 'in batches'])("one account's flood, %s, does not hold up another's orders", (how) =>
    withStack(kind, async (stack) => {
      const { knex } = stack.database;
      const unhurried = { LEASE: '30s', SWEEP_AFTER: '60s' };
      const intake = await stack.intake(unhurried);
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
      await stack.worker(unhurried);
      const { body: outcome } = await intake.api.final(quiet, body.receipt_id);
      expect(outcome.status).toBe('written');
      const count = async (query: Knex.QueryBuilder) => Number((await query.count('* as orders').first())?.orders);
      // Behind the flood it would be in the last group or the one beside it, of 300 each.
      expect(await count(knex('orders').where('order_id', '<', outcome.order_id))).toBeLessThan(1301 - 600);
      await until('the flood is written too', async () => (await count(knex('orders'))) === 1301);
    }),
  );
});
