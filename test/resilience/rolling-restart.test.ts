import { beforeAll, expect, test } from '@jest/globals';
import type { Child } from '@orders/test-services/child.ts';
import { until } from '@orders/test-services/until.ts';
import { type Haproxy, SAFE_DRAIN_DELAY, type Server, startHaproxy } from '../harness/haproxy.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { head, openRaw, type RawConnection } from '../harness/raw-http.ts';
import { expectSettled, written } from '../harness/settled.ts';
import { onOneConnection, startSteadyLoad } from '../harness/steady-load.ts';
import { useStack } from '../harness/use-stack.ts';

const ROUNDS = Number(process.env.ROLLING_ROUNDS ?? 1);

const { stack, knex } = useStack({ queue: QUEUE_KIND });

const start = (app: 'intake' | 'worker', settings: Record<string, string> = {}) =>
  startApp(app, { ...stack.env, ...settings });

/** Stops a process like an orchestrator and expects that it drains and exits. */
async function end(child: Child): Promise<void> {
  await child.stop();
  expect([child.process.exitCode, child.process.signalCode]).toEqual([0, null]);
}

function missing(wanted: Iterable<string>, there: string[]): string[] {
  const found = new Set(there);
  return [...wanted].filter((one) => !found.has(one));
}

describeWith('haproxy')('behind haproxy', () => {
  let haproxy: Haproxy;

  beforeAll(async () => {
    haproxy = await startHaproxy();
  });
  async function startIntake(server: Server, drainDelay: string): Promise<Child> {
    const { port, adminPort } = haproxy.ports[server];
    const settings = { PORT: String(port), ADMIN_PORT: String(adminPort), DRAIN_DELAY: drainDelay };
    const child = await start('intake', settings);
    await haproxy.untilUp(server);
    return child;
  }

  /** Replaces an intake by one with this `drainDelay`. */
  async function replaceIntake(server: Server, old: Child, drainDelay: string): Promise<Child> {
    await end(old);
    return startIntake(server, drainDelay);
  }

  test('replacing each intake and worker under load fails no request, loses no order and duplicates none', async () => {
    const account = await stack.account();
    let [worker1, worker2] = [await start('worker'), await start('worker')];
    let [intake1, intake2] = await Promise.all([
      startIntake('intake1', SAFE_DRAIN_DELAY),
      startIntake('intake2', SAFE_DRAIN_DELAY),
    ]);
    const { url, connectionsUrl } = haproxy;
    const urls: string[] = Array(4).fill([url, connectionsUrl]).flat();
    const { ledger, untilAccepted, stop } = startSteadyLoad(urls.map((to) => onOneConnection(to, account)));
    await untilAccepted(50);
    for (let round = 0; round < ROUNDS; round++) {
      await end(worker1);
      worker1 = await start('worker');
      intake1 = await replaceIntake('intake1', intake1, SAFE_DRAIN_DELAY);
      await end(worker2);
      worker2 = await start('worker');
      intake2 = await replaceIntake('intake2', intake2, round < ROUNDS - 1 ? SAFE_DRAIN_DELAY : '0');
      await untilAccepted(50);
    }
    const failed = [...ledger.failed.values()];
    // Without a delay the last one causes failures, which shows that the delay prevents them.
    await end(intake2);
    await until('requests fail', async () => ledger.failed.size > 0);
    await stop();
    expect(failed).toEqual([]);
    // A failed request may have stored its receipt.
    const stored: string[] = await knex('receipts').where({ account_id: account.id }).pluck('receipt_id');
    expect(missing(ledger.accepted.values(), stored)).toEqual([]);
    await expectSettled(stack, account, written(stored));
    const orders = await knex('orders').where({ account_id: account.id }).pluck('source_order_id');
    expect(missing(ledger.accepted.keys(), orders)).toEqual([]);
  });
});

test('a draining intake is not ready, and accepts requests for DRAIN_DELAY while it closes each connection', async () => {
  const account = await stack.account();
  const intake = await stack.intake({ DRAIN_DELAY: '8s' });
  const body = (id: string) => JSON.stringify({ source_order_id: id });
  const send = ({ socket }: RawConnection, id: string) =>
    socket.write(
      Buffer.concat([
        head('POST /ingest/orders HTTP/1.1', [
          ['Host', 'x'],
          ['Authorization', `Bearer ${account.key}`],
          ['Content-Type', 'application/json'],
          ['Content-Length', body(id).length],
        ]),
        Buffer.from(body(id)),
      ]),
    );
  const kept = openRaw(intake.api.url);
  send(kept, 'before');
  expect((await kept.reply())?.headers.connection).not.toBe('close');
  const closing = intake.close();
  const ready = await fetch(`${intake.adminUrl}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, expect.objectContaining({ ready: false, draining: true })]);
  for (const [connection, id] of [
    [kept, 'on a kept connection'],
    [openRaw(intake.api.url), 'on a new one'],
  ] as const) {
    send(connection, id);
    expect(await connection.reply()).toMatchObject({ status: 202, headers: { connection: 'close' } });
    expect(await connection.closed).toBeNull();
  }
  await closing;
  await expect(fetch(`${intake.api.url}/docs`)).rejects.toThrow();
});
