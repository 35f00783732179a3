import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createKey, revokeKey } from '@orders/database/accounts/api-keys.ts';
import { rotateSigning } from '@orders/database/accounts/signing-secrets.ts';
import { until } from '@orders/test-services/until.ts';
import { type BarrierName, closeBarrier, hold, installBarriers, lockTables, whoWait } from '../harness/barriers.ts';
import { moveClock } from '../harness/clock.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { readGauge } from '../harness/read-metrics.ts';
import { expectSettled, written } from '../harness/settled.ts';
import type { RunningIntake, TestAccount } from '../harness/stack.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

describe('forced races between requests', () => {
  let intakes: [RunningIntake, RunningIntake];
  let account: TestAccount;

  const { stack, knex, db } = useStack();

  beforeAll(async () => {
    intakes = [await stack.intake(), await stack.intake()];
    await installBarriers(knex);
  });

  const shut = (barrier: BarrierName) => closeBarrier(knex, barrier);
  const lock = (tables: string) => lockTables(knex, tables);

  /** Starts a worker and expects the given final state of each receipt. */
  async function expectEnds(expected: Record<string, string>): Promise<void> {
    closeAfterTest(await stack.worker());
    await expectSettled(stack, account, expected);
  }

  test('two intakes that get one idempotency key at the same time create one receipt, which both replies name', async () => {
    account = await stack.account({ signing: true });
    const key = { 'Idempotency-Key': 'same-moment' };
    const order = { source_order_id: 'one key' };
    const barrier = await shut('keys taken');
    const first = intakes[0].api.order(account, order, key);
    await whoWait(knex, 1, 'advisory');
    const second = intakes[1].api.webhook(account, order, key);
    await whoWait(knex, 1, 'transactionid');
    await barrier.release();
    const { receipt_id } = (await first).body;
    expect((await first).body).toEqual({ receipt_id });
    expect((await second).body).toEqual({ receipt_id, duplicate: true });
    await expectEnds(written([receipt_id]));
  });

  test('if the first of two requests with one key is cut off before its commit, the second owns the key, also for retries', async () => {
    account = await stack.account();
    const key = { 'Idempotency-Key': 'cut-off' };
    const order = { source_order_id: 'one key, cut off' };
    const barrier = await shut('keys taken');
    const first = intakes[0].api.order(account, order, key);
    const [backend] = await whoWait(knex, 1, 'advisory');
    const second = intakes[1].api.order(account, order, key);
    await whoWait(knex, 1, 'transactionid');
    await knex.raw('select pg_terminate_backend(?)', [backend as number]);
    expect(await first).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    await whoWait(knex, 1, 'advisory');
    await barrier.release();
    const { receipt_id } = (await second).body;
    expect((await second).body).toEqual({ receipt_id });
    expect((await intakes[0].api.order(account, order, key)).body).toEqual({ receipt_id, duplicate: true });
    await expectEnds(written([receipt_id]));
  });

  test('a request whose idempotency key another transaction stores delays no other account in its write batch', async () => {
    account = await stack.account();
    const other = await stack.account();
    const [{ api, adminUrl }] = intakes;
    const locked = await hold(knex, `insert into idempotency_keys values (${account.id}, 'locked', gen_random_uuid())`);
    // While the first batch waits, the next requests collect in one.
    const table = await lock('receipts');
    const before = api.order(other, { source_order_id: 'before' });
    await whoWait(knex, 1, 'relation');
    const waiting = api.order(account, { source_order_id: 'waits' }, { 'Idempotency-Key': 'locked' });
    const theirs = api.order(other, { source_order_id: 'does not' }, { 'Idempotency-Key': 'locked' });
    await until('all are in intake', async () => (await readGauge(adminUrl, 'intake_orders_in_flight')) === 3);
    await table.release();
    expect((await before).status).toBe(202);
    expect((await theirs).body).toEqual({ receipt_id: expect.any(String) });
    await whoWait(knex, 1, 'transactionid');
    await locked.release();
    const { body } = await waiting;
    expect(body).toEqual({ receipt_id: expect.any(String) });
    await expectEnds(written([body.receipt_id]));
  });

  test('revoking a key lets requests in flight finish, and every intake rejects the key within 5 seconds', async () => {
    account = await stack.account();
    const { key, key_id } = await createKey(db, account.id, 'to be revoked');
    const revoked = { ...account, key };
    for (const { api } of intakes) expect((await api.order(revoked, {})).status).toBe(422);
    const table = await lock('receipts');
    const underWay = intakes.map(({ api }, index) => api.order(revoked, { source_order_id: `under way ${index}` }));
    await whoWait(knex, 2, 'relation');
    await revokeKey(db, key_id);
    await table.release();
    const replies = await Promise.all(underWay);
    expect(replies.map(({ status }) => status)).toEqual([202, 202]);
    await moveClock(5);
    for (const { api } of intakes) {
      expect((await api.order(revoked, {})).body.code).toBe('invalid_api_key');
      expect((await api.order(account, {})).status).toBe(422);
    }
    await expectEnds(written(replies.map(({ body }) => body.receipt_id)));
  });

  test('rotating a signing secret with overlap makes both valid everywhere, and after the overlap only the new one', async () => {
    account = await stack.account({ signing: true });
    const old = account;
    for (const { api } of intakes) expect((await api.webhook(old, {})).status).toBe(422);
    const table = await lock('receipts');
    const underWay = intakes[0].api.webhook(old, { source_order_id: 'signed before' });
    await whoWait(knex, 1, 'relation');
    const rotated = await rotateSigning(db, stack.secretsKey, account.id, 3_600_000);
    const current = { ...account, secret: rotated?.secret as string };
    await table.release();
    const accepted = [await underWay];
    for (const [index, { api }] of intakes.entries()) {
      accepted.push(await api.webhook(current, { source_order_id: `signed by the new one ${index}` }));
      accepted.push(await api.webhook(old, { source_order_id: `signed by the old one ${index}` }));
    }
    expect(accepted.map(({ status }) => status)).toEqual(Array(5).fill(202));

    await knex('signing_secrets')
      .where({ account_id: account.id })
      .whereNotNull('expires_at')
      .update({ expires_at: knex.fn.now() });
    await moveClock(5);
    for (const { api } of intakes) {
      expect((await api.webhook(old, {})).body.code).toBe('invalid_signature');
      expect((await api.webhook(current, {})).status).toBe(422);
    }
    await expectEnds(written(accepted.map(({ body }) => body.receipt_id)));
  });

  describe('a client that disconnects', () => {
    let smallIntake: RunningIntake;
    const BODY = '{"source_order_id":"hung up"}';

    beforeAll(async () => {
      smallIntake = await stack.intake({ MAX_IN_FLIGHT: '1' });
    });

    async function post(body: string): Promise<Socket> {
      const socket = connect(Number(new URL(smallIntake.api.url).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(
        `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${body}`,
      );
      return socket;
    }
    const isTaken = async () => (await smallIntake.api.order(account, {})).body.code === 'overloaded';
    const hangUp = async (socket: Socket) => {
      const noticed = () => smallIntake.log.lines.filter(({ status }) => status === 499).length;
      const before = noticed();
      socket.destroy();
      await until('the disconnect is counted', async () => noticed() > before);
    };

    test('during its body leaves nothing behind, and its bytes are released', async () => {
      account = await stack.account();
      const before = await countStored(knex);
      const bytes = () => readGauge(smallIntake.adminUrl, 'intake_body_bytes_in_flight');
      const socket = await post(BODY.slice(0, -1));
      await until('its bytes are counted', async () => (await bytes()) === BODY.length);
      await hangUp(socket);
      expect(await bytes()).toBe(0);
      expect(await countStored(knex)).toBe(before);
    });

    test('after its body keeps its slot until its order is stored completely', async () => {
      account = await stack.account();
      const table = await lock('receipts');
      const socket = await post(BODY);
      await whoWait(knex, 1, 'relation');
      await hangUp(socket);
      expect(await isTaken()).toBe(true);
      await table.release();
      await until('its slot is free', async () => !(await isTaken()));
      const receiptIds = await knex('receipts').where({ account_id: account.id }).pluck('receipt_id');
      expect(receiptIds).toHaveLength(1);
      await expectEnds(written(receiptIds));
    });

    test('after its body leaves nothing behind if the order cannot be stored, and its slot is released', async () => {
      account = await stack.account();
      const before = await countStored(knex);
      const table = await lock('receipts');
      const socket = await post(BODY);
      const [backend] = await whoWait(knex, 1, 'relation');
      await hangUp(socket);
      await knex.raw('select pg_terminate_backend(?)', [backend as number]);
      await until('its slot is free', async () => !(await isTaken()));
      await table.release();
      expect(await countStored(knex)).toBe(before);
    });
  });
});
