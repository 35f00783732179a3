import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { lockTables } from '../harness/barriers.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { findMarkers, markedOrder, PERSONAL } from '../harness/marked-order.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { describeQueues, listJobs, QUEUE_KIND } from '../harness/queue.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { useStack } from '../harness/use-stack.ts';

const [SERVER, CONSUMER] = [2, 5];

/** The trace headers of a sender. */
function sender(isSampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-0${Number(isSampled)}` } };
}

describeQueues('traces, the queue on %s', (kind) => {
  let receiver: OtlpReceiver;
  let closes: (() => Promise<void>)[] = [];

  const { stack, knex, account } = useStack({ queue: kind, account: true });

  beforeEach(async () => {
    receiver = await startOtlpReceiver();
  });
  afterEach(async () => {
    for (const close of closes) await close();
    closes = [];
    await receiver.close();
  });

  // Only wake-ups carry traces, so the sweeper must not be faster, and a slow machine gets time to send spans at the end.
  const slowTimers = { SWEEP_AFTER: '10m', DRAIN_TIMEOUT: '3m' };
  /** Starts the apps with tracing. `closeAll` sends their remaining spans. */
  async function intake(settings: Record<string, string> = {}) {
    const app = await stack.intake({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...slowTimers, ...settings });
    closes.push(app.close);
    return app;
  }
  async function worker(settings: Record<string, string> = {}) {
    const app = await stack.worker({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...slowTimers, ...settings });
    closes.push(app.close);
    return app;
  }
  const closeAll = async () => {
    for (const close of closes) await close();
  };
  const ofTrace = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
  const named = (spans: ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);
  const only = (spans: ReceivedSpan[], name: string) => {
    const [span, ...more] = named(spans, name);
    if (!span || more.length > 0) throw new Error(`${more.length + Number(!!span)} spans called ${name}`);
    return span;
  };

  test('the trace of the sender continues from the request to the written order', async () => {
    const [{ api, log }, { log: workerLog }] = [await intake(), await worker()];
    const from = sender();
    const { body } = await api.order(account, { source_order_id: 'traced' }, from.headers);
    const { order_id } = (await api.final(account, body.receipt_id)).body;
    await closeAll();

    const spans = ofTrace(from.traceId);
    const request = only(spans, 'POST /ingest/orders');
    expect(request).toMatchObject({ service: 'orders-intake', kind: SERVER, parentSpanId: from.spanId });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/ingest/orders',
      'http.response.status_code': 202,
      'url.scheme': 'http',
      'orders.request_id': expect.any(String),
      'orders.receipt_id': body.receipt_id,
      'orders.batch_id': expect.any(String),
      'orders.batch_size': 1,
    });
    expect(only(spans, 'record receipt')).toMatchObject({ parentSpanId: request.spanId });
    const write = only(spans, 'write order');
    expect(write).toMatchObject({
      service: 'orders-worker',
      kind: CONSUMER,
      parentSpanId: request.spanId,
      isFailed: false,
      attributes: { 'orders.receipt_id': body.receipt_id, 'orders.outcome': 'written', 'orders.order_id': order_id },
    });
    expect(spans).toHaveLength(3);

    const batch = only(receiver.spans, 'process batch');
    expect(batch).toMatchObject({ kind: CONSUMER, parentSpanId: '', links: [request.spanId] });
    expect(batch.traceId).not.toBe(from.traceId);
    expect(write.links).toEqual([batch.spanId]);
    expect(write.startedAt).toBeLessThanOrEqual(write.endedAt);
    expect(request.startedAt).toBeLessThan(write.startedAt);
    for (const step of ['claim', 'normalize', 'write']) {
      expect(only(ofTrace(batch.traceId), step)).toMatchObject({ parentSpanId: batch.spanId });
    }

    const lines = [...log.lines, ...workerLog.lines].filter((line) => line.trace_id === from.traceId);
    expect(lines.map(({ message }) => message)).toEqual(['request completed', 'receipt written']);
    for (const line of lines) expect(line).toMatchObject({ receipt_id: body.receipt_id });
  });

  test("a job of many requests has its own span with a link to each request, and each request's trace has its write", async () => {
    const { api, adminUrl } = await intake();
    const senders = Array.from({ length: 12 }, () => sender());
    // What arrives while others are being recorded is recorded together.
    const lock = await lockTables(knex, 'receipt_payloads');
    const sent = senders.map((from, at) => api.order(account, { source_order_id: `many-${at}` }, from.headers));
    const inFlight = async () => gaugeOf(await readMetrics(adminUrl), 'intake_orders_in_flight');
    await until('all are in flight', async () => (await inFlight()) === senders.length);
    await lock.release();
    const replies = await Promise.all(sent);
    await worker();
    for (const { body } of replies) await api.final(account, body.receipt_id);
    await closeAll();

    const batches = named(receiver.spans, 'process batch');
    for (const [at, from] of senders.entries()) {
      const spans = ofTrace(from.traceId);
      const request = only(spans, 'POST /ingest/orders');
      const write = only(spans, 'write order');
      expect(write.parentSpanId).toBe(request.spanId);
      expect(write.attributes['orders.receipt_id']).toBe(replies[at]?.body.receipt_id);
      expect(batches.filter((batch) => batch.links.includes(request.spanId)).map((batch) => batch.spanId)).toEqual(
        write.links,
      );
    }
    expect(batches.length).toBeLessThan(senders.length);
  });

  test('the trace of a batch request has the write of each of its orders', async () => {
    const { api } = await intake();
    await worker();
    const from = sender();
    const orders = Array.from({ length: 5 }, (_, index) => ({ source_order_id: `together-${index}` }));
    const { body } = await api.batch(account, [...orders, {}], from.headers);
    const receiptIds = body.results.slice(0, 5).map(({ receipt_id }: { receipt_id: string }) => receipt_id);
    for (const receiptId of receiptIds) await api.final(account, receiptId);
    await closeAll();

    const spans = ofTrace(from.traceId);
    const request = only(spans, 'POST /ingest/orders/batch');
    expect(request).toMatchObject({ kind: SERVER, parentSpanId: from.spanId });
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 202, 'orders.batch_size': 5 });
    expect(request.attributes).not.toHaveProperty('orders.receipt_id');
    expect(only(spans, 'record receipts')).toMatchObject({ parentSpanId: request.spanId });
    const writes = named(spans, 'write order');
    expect(new Set(writes.map(({ attributes }) => attributes['orders.receipt_id']))).toEqual(new Set(receiptIds));
    for (const { parentSpanId } of writes) expect(parentSpanId).toBe(request.spanId);
  });

  // The other tests are the same for both queues.
  if (kind !== QUEUE_KIND) return;

  test('a batch that is sampled because of a request has all its spans, whatever the sampling ratio', async () => {
    const { api } = await intake();
    await worker({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    await api.process(account, { source_order_id: 'share-of-none' }, sender().headers);
    await closeAll();
    const batch = only(receiver.spans, 'process batch');
    const steps = ofTrace(batch.traceId).filter((span) => span.parentSpanId === batch.spanId);
    expect(new Set(steps.map(({ name }) => name))).toEqual(new Set(['claim', 'normalize', 'write']));
  });

  test('the trace of a request has each failed attempt of its order', async () => {
    const [{ api }] = [await intake(), await worker({ RETRY_ATTEMPTS: '100' })];
    await poisonOrders(knex);
    const from = sender();
    const order = { source_order_id: 'retried', order_number: 'poison' };
    const { body } = await api.webhook(account, order, from.headers);
    await until('it failed', async () => (await api.status(account, body.receipt_id)).body.status === 'failed');
    await stopPoisoning(knex);
    expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
    await closeAll();

    const spans = ofTrace(from.traceId);
    const request = only(spans, 'POST /ingest/webhook');
    const attempts = named(spans, 'write order').sort((a, b) => Number(a.startedAt - b.startedAt));
    expect(attempts.length).toBeGreaterThan(1);
    for (const attempt of attempts) expect(attempt.parentSpanId).toBe(request.spanId);
    const failed = attempts.slice(0, -1);
    for (const [at, attempt] of failed.entries()) {
      expect(attempt).toMatchObject({
        isFailed: true,
        attributes: { 'orders.outcome': 'failed', 'orders.attempt': at + 1 },
      });
    }
    expect(attempts.at(-1)).toMatchObject({ isFailed: false, attributes: { 'orders.outcome': 'written' } });
  });

  test('the trace of a request has an attempt that failed in an outage and the next attempt', async () => {
    const [{ api }] = [await intake(), await worker()];
    const from = sender();
    const locked = await knex.transaction();
    await locked.raw('lock table orders in access exclusive mode');
    const { body } = await api.order(account, { source_order_id: 'outage' }, from.headers);
    try {
      await until('the waiting write is canceled', async () => {
        const { rows } = await knex.raw(`
          select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
          where relation = 'orders'::regclass and not granted and query like '%earlier_order_id%'`);
        return rows.length > 0;
      });
    } finally {
      await locked.rollback();
    }
    expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
    await closeAll();

    const attempts = named(ofTrace(from.traceId), 'write order').sort((a, b) => Number(a.startedAt - b.startedAt));
    expect(attempts.map(({ isFailed }) => isFailed)).toEqual([...attempts.slice(1).map(() => true), false]);
    expect(attempts[0]?.attributes).toMatchObject({ 'orders.receipt_id': body.receipt_id, 'error.type': '57P01' });
    expect(attempts.at(-1)?.attributes).toMatchObject({ 'orders.outcome': 'written' });
  });

  test('an order whose wake-up was lost has its own trace, found by the receipt id', async () => {
    const nowhere = kind === 'redis' ? 'redis://127.0.0.1:9' : 'postgres://x:x@127.0.0.1:9/x';
    const away = await intake({ QUEUE_URL: nowhere, SWEEP_AFTER: '100ms' });
    const from = sender();
    const { body } = await away.api.order(account, { source_order_id: 'unheard' }, from.headers);
    const { api } = await intake();
    await worker();
    expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
    await closeAll();

    expect(named(ofTrace(from.traceId), 'write order')).toEqual([]);
    const batch = named(receiver.spans, 'process batch').find((span) =>
      (span.attributes['orders.receipt_ids'] as string[] | undefined)?.includes(body.receipt_id),
    );
    expect(batch).toMatchObject({ links: [], parentSpanId: '' });
  });

  test('a rejection is a span with its code, and only a 5xx is a failed span', async () => {
    const { api } = await intake();
    const [mistake, outage] = [sender(), sender()];
    await api.order(account, { no: 'source_order_id' }, mistake.headers);
    const withoutDatabase = await intake({ DATABASE_URL: 'postgres://orders:x@127.0.0.1:9/none' });
    await withoutDatabase.api.order(account, { source_order_id: 'x' }, outage.headers);
    await closeAll();
    expect(only(ofTrace(mistake.traceId), 'POST /ingest/orders')).toMatchObject({
      isFailed: false,
      attributes: { 'http.response.status_code': 422, 'orders.problem_code': 'validation_failed' },
    });
    expect(only(ofTrace(outage.traceId), 'POST /ingest/orders')).toMatchObject({
      isFailed: true,
      attributes: { 'http.response.status_code': 503, 'error.type': 'storage_unavailable' },
    });
  });

  test('an unsampled request leaves no span and no trace in its job, and an invalid traceparent starts a new trace', async () => {
    const { api } = await intake({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    const [no, yes] = [sender(false), sender()];
    await api.order(account, { source_order_id: 'unsampled' }, no.headers);
    await api.order(account, { source_order_id: 'no-header' });
    const jobs = await until('the jobs are in the queue', async () => {
      const found = await listJobs(stack.queue.url);
      return found.length > 1 && found;
    });
    expect(JSON.stringify(jobs)).not.toContain('traces');
    const { body } = await api.order(account, { source_order_id: 'sampled' }, yes.headers);
    await worker({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    await api.final(account, body.receipt_id);
    const all = await intake();
    const mangled = { traceparent: `00-${'0'.repeat(32)}-${no.spanId}-01` };
    await all.api.order(account, { source_order_id: 'mangled' }, mangled);
    await closeAll();
    expect(ofTrace(no.traceId)).toEqual([]);
    const roots = named(receiver.spans, 'POST /ingest/orders').filter((span) => span.parentSpanId === '');
    expect(roots).toHaveLength(1);
    expect(roots[0]?.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    expect(named(ofTrace(yes.traceId), 'write order')).toHaveLength(1);
  });

  test('headers and resource attributes come from the usual variables, and spans contain nothing of an order or a key', async () => {
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/elsewhere`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b,authorization=Basic%20eDp5',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    };
    const named = { ...settings, OTEL_SERVICE_NAME: 'door' };
    const [{ api }] = [await intake(named), await worker(settings)];
    const uuid = '01A1FD0F-e497-7caf-bd62-a53f610f126a';
    await api.send('GET', '/nowhere', { 'X-Request-Id': uuid });
    const own = { 'Idempotency-Key': 'key-zubayda', 'X-Request-Id': 'order-of-zubayda' };
    const { body } = await api.webhook(account, markedOrder(), own);
    await api.final(account, body.receipt_id);
    await api.order({ ...account, key: `${account.key}x` }, markedOrder());
    await api.send('GET', `/ingest/status/${encodeURIComponent(PERSONAL.name)}`);
    await closeAll();
    expect(new Set(receiver.spans.map(({ service }) => service))).toEqual(new Set(['door', 'orders-worker']));
    const sent = Buffer.concat(receiver.requests.map((request) => request.body)).toString('latin1');
    expect(sent).toContain('staging');
    expect(sent).toContain(uuid);
    for (const { path, headers } of receiver.requests) {
      expect(path).toBe('/elsewhere');
      expect(headers).toMatchObject({ 'x-tenant': 'a b', authorization: 'Basic eDp5' });
    }
    const { key, secret } = account;
    const secrets = { key, secret: secret ?? '', idempotency_key: 'key-zubayda', request: 'order-of-zubayda' };
    expect(findMarkers(sent, { ...PERSONAL, ...secrets })).toEqual([]);
  });
});
