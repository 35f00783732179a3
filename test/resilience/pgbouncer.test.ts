import { beforeAll, expect, test } from '@jest/globals';
import { migrate } from '@orders/database/migrate.ts';
import { dropDatabase, ensureDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startPgBouncer, type TestPooler } from '../harness/pgbouncer.ts';
import { describeWith } from '../harness/programs.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { expectOrderFlow, expectSettled, written } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack } from '../harness/stack.ts';
import { startSteadyLoad } from '../harness/steady-load.ts';

const SERVER_CONNECTIONS = 4;
const [KIND = 'postgres'] = QUEUE_KINDS;

describeWith('pgbouncer')('Postgres behind PgBouncer in transaction mode', () => {
  let direct: TestDatabase;
  let pooler: TestPooler;
  let stack: Stack;
  let intakes: RunningIntake[];

  beforeAll(async () => {
    direct = await createTestDatabase();
    pooler = await startPgBouncer(direct.directUrl, { poolSize: SERVER_CONNECTIONS });
    const url = pooler.through(direct.directUrl);
    const knex = openKnex({ url, applicationName: 'orders test' });
    const close = async () => {
      await knex.destroy();
      await pooler.close();
      await direct.close();
    };
    stack = await startStack(KIND, {
      database: { url, directUrl: direct.directUrl, knex, db: connectionOf(knex), close },
    });
    stack.env.PG_PREPARED = 'off';
    intakes = await Promise.all(Array.from({ length: 3 }, () => stack.intake({ PG_POOL_SIZE: '10' })));
  });

  test('migrates an empty database', async () => {
    const empty = `${direct.directUrl}_empty`;
    await ensureDatabase(empty);
    const knex = openKnex({ url: pooler.through(empty) });
    try {
      const ran = await Promise.all([migrate(connectionOf(knex)), migrate(connectionOf(knex))]);
      expect(ran.filter((names) => names.includes('001-schema'))).toHaveLength(1);
      expect(await migrate(connectionOf(knex))).toEqual([]);
    } finally {
      await knex.destroy();
      await dropDatabase(empty);
    }
  });

  test('an order, a changed delivery and a webhook of the same order get their expected states', () =>
    expectOrderFlow(stack, intakes));

  test('sets the limits that the apps cannot set through it', async () => {
    const { rows } = await stack.database.knex.raw(
      "select name, setting from pg_settings where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name",
    );
    expect(rows).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '10000' },
      { name: 'statement_timeout', setting: '9000' },
    ]);
  });

  test('gives no Postgres role access to its admin console', async () => {
    const { username, password } = new URL(direct.directUrl);
    for (const as of [
      { username, password },
      { username: 'orders_intake', password: 'test-role' },
    ])
      await expect(pooler.ask('show pools', as)).rejects.toThrow(/not allowed/);
    expect(await pooler.ask('show pools')).not.toEqual([]);
  });

  test('killed and restarted under load: every order with a 202 is written once, and many clients share few connections', async () => {
    const workers = [await stack.worker(), await stack.worker()];
    const sender = await stack.account();
    const senders = Array.from({ length: 8 }, () => intakes).flat();
    const { ledger, untilAccepted, stop } = startSteadyLoad(
      senders.map((intake) => (name) => intake.api.order(sender, { source_order_id: name })),
      { restMs: 0 },
    );
    await untilAccepted(200);
    const database = new URL(direct.directUrl).pathname.slice(1);
    const pools = (await pooler.ask('show pools')).filter((pool) => pool.database === database);
    await pooler.kill();
    await until('a request is rejected', async () => ledger.failed.size > 0);
    await pooler.start();
    await untilAccepted(200);
    await stop();

    const sum = (...names: string[]) =>
      pools.flatMap((pool) => names.map((name) => Number(pool[name]))).reduce((total, count) => total + count, 0);
    expect(sum('sv_active', 'sv_idle', 'sv_used', 'sv_tested', 'sv_login')).toBeLessThanOrEqual(SERVER_CONNECTIONS);
    expect(sum('cl_active', 'cl_waiting')).toBeGreaterThan(2 * SERVER_CONNECTIONS);
    expect(new Set(ledger.failed.values())).toEqual(new Set(['503 storage_unavailable']));
    // An order may be stored although its 202 was lost with the pooler.
    const { rows } = await stack.database.knex.raw('select receipt_id from receipts where account_id = ?', [sender.id]);
    const stored = rows.map(({ receipt_id }: { receipt_id: string }) => receipt_id);
    await expectSettled(stack, sender, written([...ledger.accepted.values(), ...stored]));
    for (const worker of workers) await worker.close();
  });
});
