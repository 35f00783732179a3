import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openProducer } from '@orders/queue/open-producer.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { until } from '@orders/test-services/until.ts';
import { startApp } from '../harness/processes.ts';
import { describeQueues, listJobs } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

const APPS = resolve(import.meta.dirname, '../../apps');

describeQueues('operation, the queue on %s', (kind) => {
  const { stack, knex } = useStack({ queue: kind });

  const get = async (url: string) => {
    const reply = await fetch(url);
    return { status: reply.status, text: await reply.text() };
  };

  test('the admin port of both apps has liveness, readiness and metrics', async () => {
    const [intake, worker] = [await stack.intake(), await stack.worker()];
    for (const { adminUrl } of [intake, worker]) {
      expect(await get(`${adminUrl}/health/live`)).toEqual({ status: 200, text: '{"live":true}' });
      expect(JSON.parse((await get(`${adminUrl}/health/ready`)).text)).toMatchObject({ ready: true, postgres: 'ok' });
      expect((await get(`${adminUrl}/other`)).status).toBe(404);
    }
    const account = await stack.account();
    await intake.api.order(account, { source_order_id: 'counted' });
    expect((await get(`${intake.adminUrl}/metrics`)).text).toMatch(
      /intake_requests_total\{route="\/ingest\/orders",status="202",code=""\} 1/,
    );
    await until('it is counted', async () =>
      /worker_receipts_total\{outcome="written"\} 1/.test((await get(`${worker.adminUrl}/metrics`)).text),
    );
    expect((await fetch(`${intake.api.url}/metrics`)).status).toBe(404);
    await intake.close();
    await worker.close();
  });

  test('with Postgres down neither app is ready, and both are live', async () => {
    const away = { DATABASE_URL: 'postgres://orders:x@127.0.0.1:9/none' };
    for (const { adminUrl, close } of [await stack.intake(away), await stack.worker(away)]) {
      expect((await get(`${adminUrl}/health/live`)).status).toBe(200);
      const ready = await get(`${adminUrl}/health/ready`);
      expect(ready.status).toBe(503);
      expect(JSON.parse(ready.text)).toMatchObject({ ready: false, postgres: 'unreachable' });
      await close();
    }
  });

  test('an intake without a schema is not ready and gives advice', async () => {
    const bare = new URL(stack.database.url);
    bare.pathname = '/postgres';
    const { adminUrl, close } = await stack.intake({ DATABASE_URL: bare.href });
    const ready = await get(`${adminUrl}/health/ready`);
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({
      ready: false,
      postgres: 'ok',
      schema: 'missing: run orders migrate',
    });
    await close();
  });

  test('a job in the queue contains ids and a length, and nothing else', async () => {
    const intake = await stack.intake();
    const account = await stack.account();
    const order = { source_order_id: 'no-secret', customer: { name: 'Zubaida Q', phone: '+971509998877' } };
    const { body } = await intake.api.order(account, order);
    const jobs = await until('the job is in the queue', async () => {
      // Those of readiness checks have no wake-up.
      const found = (await listJobs(stack.queue.url)).filter(({ wakeUps }) => wakeUps.length > 0);
      return found.length > 0 && found;
    });
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const newBytes = Buffer.byteLength(JSON.stringify(order));
    expect(jobs.at(-1)).toEqual({ wakeUps: [{ batchId: uuid, receiptIds: [body.receipt_id], newBytes }] });
  });

  test('a single wake-up becomes a job at once, and later ones share jobs of 300 receipts', async () => {
    const before = (await listJobs(stack.queue.url)).length;
    const wakeUps = Array.from({ length: 8 }, () => ({
      batchId: randomUUID(),
      receiptIds: Array.from({ length: 100 }, () => randomUUID()),
    }));
    const producer = openProducer({ url: stack.queue.url });
    for (const wakeUp of wakeUps) producer.wakeUp('prompt', wakeUp);
    await producer.close();
    const jobs = (await listJobs(stack.queue.url)).slice(before);
    const shared = [wakeUps.slice(0, 1), wakeUps.slice(1, 4), wakeUps.slice(4, 7), wakeUps.slice(7)];
    expect(jobs).toHaveLength(shared.length);
    expect(jobs).toEqual(expect.arrayContaining(shared.map((wakeUps) => ({ wakeUps }))));
  });

  test('an intake drains although clients keep their connections open', async () => {
    const intake = await stack.intake();
    const account = await stack.account();
    const { port } = new URL(intake.api.url);
    const unused = connect(Number(port), '127.0.0.1');
    await once(unused, 'connect');
    const busy = connect(Number(port), '127.0.0.1');
    busy.setEncoding('utf8');
    let received = '';
    busy.on('data', (text) => {
      received += text;
    });
    const held = await knex.transaction();
    await held.raw('lock table receipts in access exclusive mode');
    const body = '{"source_order_id":"in-flight"}';
    busy.write(
      `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until('the order is being recorded', async () => {
      const { rows } = await held.raw("select 1 from pg_locks where relation = 'receipts'::regclass and not granted");
      return rows.length > 0;
    });
    const closing = intake.close();
    await held.commit();
    await closing;
    expect(received).toMatch(/^HTTP\/1\.1 202 .*Connection: close/s);
    unused.destroy();
  });

  test('SIGTERM drains a process: accepted orders are written, and it exits with 0', async () => {
    const intake = await stack.intake();
    const account = await stack.account();
    const worker = await startApp('worker', { ...stack.env, DRAIN_TIMEOUT: '3m' });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) => intake.api.order(account, { source_order_id: `drained-${index}` })),
    );
    await until('it has begun', () => knex('orders').where({ account_id: account.id }).first());
    await worker.stop('SIGTERM');
    expect(worker.process.exitCode).toBe(0);
    // A drained worker leaves no lease behind.
    const leased = await knex('receipts').where({ account_id: account.id, state: 'normalized' });
    expect(leased).toEqual([]);
    await stack.worker();
    for (const { body } of replies)
      expect((await intake.api.final(account, body.receipt_id)).body.status).toBe('written');
  });
});

describe('a wrong configuration causes one line and exit code 2', () => {
  const validSettings = {
    DATABASE_URL: 'postgres://a:b@127.0.0.1/c',
    QUEUE_URL: 'redis://127.0.0.1',
    SECRETS_KEY: 'a'.repeat(64),
  };
  const run = (app: string, env: Record<string, string>) =>
    spawnSync(process.execPath, [resolve(APPS, app, 'src/main.ts')], {
      env: { ...baseEnvironment(), ...env },
      encoding: 'utf8',
      timeout: 100_000,
    });

  test.each([
    ['intake', { SECRETS_KEY: '', NODE_ENV: 'production' }, 'SECRETS_KEY is required'],
    ['intake', { SECRETS_KEY: 'too short' }, 'SECRETS_KEY must be 32 bytes'],
    ['intake', { DATABASE_URL: '' }, 'DATABASE_URL is required'],
    ['intake', { QUEUE_URL: 'redis://:too%20short@127.0.0.1:70000' }, 'QUEUE_URL must be an address'],
    ['intake', { QUEUE_URL: 'redis-cluster://:too%20short@a:1,127.0.0.1:70000' }, 'QUEUE_URL must be redis-cluster://'],
    ['worker', { DATABASE_URL: 'postgres://a:too%20short%ff@127.0.0.1/c' }, 'DATABASE_URL must be an address'],
    ['intake', { BASE_PATH: 'too short' }, 'BASE_PATH must be a path'],
    ...['1', 'true', 'proxy.example.com', '10.0.0.0/33', '10.0.0.0/8/8', 'loopback, ', '::1/129'].map(
      (list) => ['intake', { TRUST_PROXY: list }, 'TRUST_PROXY must be addresses, ranges'] as const,
    ),
    ['intake', { RATE_LIMIT: 'many' }, 'RATE_LIMIT must be <requests>/<time in whole seconds>'],
    ['intake', { RATE_LIMIT: '100/500ms' }, 'RATE_LIMIT must be <requests>/<time in whole seconds>'],
    ['worker', { QUEUE_URL: 'mysql://x' }, 'QUEUE_URL must be'],
    ['worker', { ADMIN_TOKEN: 'too short' }, 'ADMIN_TOKEN must be at least 16 visible ASCII characters'],
    ['worker', { LEASE: 'soon' }, 'LEASE must be a time span'],
    ['worker', { LEASE: '30' }, 'LEASE must be a time span'],
    ['worker', { LEASE: '30d' }, 'at most 24d'],
    ['intake', { OTEL_EXPORTER_OTLP_ENDPOINT: 'too short' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a valid uri'],
    ['intake', { OTEL_EXPORTER_OTLP_HEADERS: 'too short' }, 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
    ['worker', { OTEL_TRACES_SAMPLER: 'xray' }, 'OTEL_TRACES_SAMPLER must be one of'],
    ['worker', { RECEIPT_RETENTION: '1d', IDEMPOTENCY_TTL: '7d' }, 'RECEIPT_RETENTION must not be less'],
  ])('%s with %j', (app, wrong, says) => {
    const { status, stderr, stdout } = run(app, { ...validSettings, ...wrong });
    expect({ status, lines: stderr.trim().split('\n').length, stdout }).toEqual({ status: 2, lines: 1, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/too( |%20)short/);
  });

  test('in case of a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { status, stderr } = run('intake', { ...validSettings, PORT: String(port) });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `Configuration: cannot listen on 127.0.0.1:${port}, it is taken.\n`,
    });
    taken.close();
  });
});
