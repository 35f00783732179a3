import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Child } from '@orders/test-services/child.ts';
import { type FaultyRedis, startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { useDirectory } from '../harness/directory.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import type { Outcome } from '../harness/run-command.ts';
import { startSend, withoutProgress } from '../harness/send.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';

const ORDERS = Number(process.env.SEND_ORDERS ?? 3000);
/** Enough requests that some are in flight at every kill. */
const REQUESTS = 300;

describeWith('redis-server')('a file is sent while everything is killed and restarted', () => {
  let postgres: FaultyPostgres;
  let redis: FaultyRedis;
  let stack: Stack;
  let account: TestAccount;
  let port: number;
  const files = useDirectory();
  const running = new Set<Child>();

  beforeAll(async () => {
    [postgres, redis, port] = await Promise.all([startFaultyPostgres(), startFaultyRedis(), freePort()]);
    stack = await startStack('redis', { database: postgres, queue: redis });
    account = await stack.account();
  });
  afterAll(async () => {
    await Promise.all([...running].map((child) => child.stop('SIGKILL')));
  });

  async function startService(): Promise<void> {
    const apps = await Promise.all([
      startApp('intake', { ...stack.env, PORT: String(port) }, { output: 'pipe' }),
      startApp('worker', stack.env, { output: 'pipe' }),
    ]);
    for (const app of apps) running.add(app);
  }

  async function killService(): Promise<void> {
    await Promise.all([...running].map((child) => child.stop('SIGKILL')));
    running.clear();
  }

  async function untilStored(share: number, sending: ReturnType<typeof startSend>): Promise<void> {
    let ended: Outcome | null = null;
    void sending.ended.then((sent) => (ended = sent));
    const stored = await until(
      `${share} of the orders are stored`,
      async () => {
        // Otherwise the test would wait forever.
        expect(ended).toBeNull();
        const row = await postgres.knex('receipts').where({ account_id: account.id }).count('*').first();
        return Number(row?.count) >= share * ORDERS && Number(row?.count);
      },
      { seconds: 200 },
    );
    // Otherwise nothing is in flight that could be lost.
    expect(stored).toBeLessThan(ORDERS);
  }

  test(`${ORDERS} orders: every order is written once, and the report adds up`, async () => {
    const ids = Array.from({ length: ORDERS }, (_, number) => `sent-${number}`);
    const line = (id: string) =>
      JSON.stringify({ source_order_id: id, customer: { name: 'Aisha' }, emirate: 'Dubai', total: '12.50' });
    const file = await files.write('orders.ndjson', `${ids.map(line).join('\n')}\n`);
    const sender = { url: `http://127.0.0.1:${port}`, key: account.key };
    const args = [file, '--json', '--batch-size', String(Math.ceil(ORDERS / REQUESTS)), '--concurrency', '2'];

    // The service is not up yet, so the command waits.
    const first = startSend(sender, args);
    await startService();
    await untilStored(0.1, first);
    await Promise.all([killService(), redis.stop()]);
    await redis.startEmpty();
    await startService();
    await untilStored(0.3, first);
    first.child.kill('SIGKILL');
    expect(await first.ended).toMatchObject({ code: null, stdout: '' });
    const second = startSend(sender, args);
    await untilStored(0.5, second);
    await Promise.all([killService(), postgres.kill()]);
    await postgres.start();
    await startService();
    await untilStored(0.7, second);
    await Promise.all([killService(), redis.stop()]);
    await redis.startEmpty();
    await startService();

    const { code, stdout, stderr } = await second.ended;
    expect([code, withoutProgress(stderr)]).toEqual([0, '']);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ read: ORDERS, rejected: 0, statuses: { written: ORDERS }, failed_file: null });
    expect(report.sent_before).toBeGreaterThan(0);
    expect(report.sent_before).toBeLessThan(ORDERS);

    const { knex } = postgres;
    const written: string[] = await knex('orders').where({ account_id: account.id }).pluck('source_order_id');
    expect(written).toHaveLength(ORDERS);
    expect(new Set(written)).toEqual(new Set(ids));
    // Resent orders replayed their receipts, so each order has one receipt, and each is written.
    const states = await knex('receipts').where({ account_id: account.id }).groupBy('state').select('state').count('*');
    expect(states).toEqual([{ state: 'written', count: ORDERS }]);
  }, 600_000);
});
