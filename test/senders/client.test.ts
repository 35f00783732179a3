import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Accepted,
  type IdempotencyMismatchError,
  type Order,
  OrdersClient,
  type OrdersEvent,
  ProblemError,
  signBody,
} from '@orders/client';
import { setSignedOnly, setSuspended } from '@orders/database/accounts/accounts.ts';
import { createKey, type KeyAccess } from '@orders/database/accounts/api-keys.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { createApiKey } from '@orders/domain/api-key.ts';
import { PROBLEMS, type ProblemCode } from '@orders/domain/problems.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { lockTables, whoWait } from '../harness/barriers.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { expectSettled, written } from '../harness/settled.ts';
import { type RunningWorker, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

type Options = Partial<ConstructorParameters<typeof OrdersClient>[0]>;

const clientOf = (url: string, { key, secret }: TestAccount, options: Options = {}) =>
  new OrdersClient({ baseUrl: url, apiKey: key, signingSecret: secret ?? undefined, ...options });

const ordersNamed = (name: string, count: number): Order[] =>
  Array.from({ length: count }, (_, index) => ({
    source_order_id: `${name}-${index}`,
    emirate: 'Dubai',
    total: '9.50',
  }));

describe('the client and the service', () => {
  let client: OrdersClient;

  const { stack, api, account } = useStack({
    queue: QUEUE_KIND,
    intake: { BASE_PATH: '/delivery/api', MAX_BODY_BYTES: '4000' },
    worker: true,
    account: true,
  });

  beforeAll(async () => {
    client = clientOf(api.url, account);
  });

  test('an order is submitted, its receipt is awaited, and it is written', async () => {
    const order: Order = { source_order_id: 'c-1', customer: { name: 'Aisha', phone: '050 123 4567' }, emirate: 'dxb' };
    const { receipt_id } = await client.submitOrder(order, { idempotencyKey: 'c-1' });
    const receipt = await client.waitForReceipt(receipt_id);
    expect(receipt).toMatchObject({ receipt_id, status: 'written', order_id: expect.any(Number), channel: 'rest' });
    expect(await client.getReceipt(receipt_id)).toEqual(receipt);
    const again: Accepted = await client.submitOrder(order, { idempotencyKey: 'c-1', wait: 30 });
    expect(again).toEqual({ receipt_id, duplicate: true, status: 'written', order_id: receipt.order_id });
    expect(await client.preview(order)).toMatchObject({
      normalized: { emirate_code: 'AE-DU', customer: { phone: '+971501234567' } },
      duplicate_of: { receipt_id, order_id: receipt.order_id },
    });
  });

  test.each<[string, (id: string) => string | Uint8Array | Order]>([
    ['an order', (id) => ({ source_order_id: id, address: 'شارع' })],
    ['a string with its own spacing', (id) => `{ "source_order_id":\n"${id}" }`],
    ['bytes', (id) => new TextEncoder().encode(`\ufeff{"source_order_id":"${id}"}`)],
  ])('the service accepts the signature of a webhook with %s', async (what, make) => {
    const accepted = await client.sendWebhook(make(`w ${what}`), { wait: 30 });
    expect(accepted.status).toBe('written');
    expect(await client.getReceipt(accepted.receipt_id)).toMatchObject({ channel: 'webhook' });
  });

  test('the service accepts a signature of signBody', async () => {
    const body = '{"source_order_id":"signed-by-hand"}';
    const signature = await signBody(body, account.secret as string);
    const headers = { 'x-service-signature': signature };
    expect(await api.webhook(account, body, headers)).toMatchObject({ status: 202 });
  });

  test.each(['rest', 'webhook'] as const)(
    'several hundred orders by %s are all accepted and written once',
    async (via) => {
      const many = await stack.account({ signing: true });
      const receipts = new Map<number, string>();
      const input = ordersNamed(via, 300);
      for await (const { index, order, accepted, error } of clientOf(api.url, many).submitMany(input, { via })) {
        expect(error).toBeUndefined();
        expect(order).toBe(input[index]);
        receipts.set(index, (accepted as Accepted).receipt_id);
      }
      expect(receipts.size).toBe(300);
      await expectSettled(stack, many, written(receipts.values()));
    },
  );

  test('a batch has a result for each order, and sent again under its key it gets the same receipts', async () => {
    const bytes = new TextEncoder().encode('\ufeff{\n"source_order_id": "bytes"\n}');
    const orders = [
      ...ordersNamed('batch', 2),
      bytes,
      '{\n"source_order_id": "spaced"\n}',
      '',
      '{"source_order_id":7}',
    ];
    const { accepted, refused, results } = await client.submitBatch(orders, { idempotencyKey: 'night' });
    expect([accepted, refused]).toEqual([4, 2]);
    expect(results.map(({ error }) => error?.code)).toEqual([
      ...Array(4).fill(undefined),
      'malformed_body',
      'validation_failed',
    ]);
    const again = await client.submitBatch(orders, { idempotencyKey: 'night' });
    expect(again.results.map(({ receipt_id }) => receipt_id)).toEqual(results.map(({ receipt_id }) => receipt_id));
    const receipts = results.flatMap(({ receipt_id }) => receipt_id ?? []);
    const finals = await Promise.all(receipts.map((receiptId) => client.waitForReceipt(receiptId)));
    expect(new Set(finals.map(({ status }) => status))).toEqual(new Set(['written']));
    await expect(client.submitBatch([])).rejects.toMatchObject({ code: 'malformed_body' });
    await expect(client.submitBatch(Array(1001).fill('{}'))).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  test('a batch sent again without a key creates no second order', async () => {
    const orders = ordersNamed('batch again', 3);
    const sent = await client.submitBatch(orders);
    await Promise.all(sent.results.map((result) => client.waitForReceipt(result.receipt_id as string)));
    const again = await client.submitBatch(orders);
    expect(again).toMatchObject({ accepted: 3, refused: 0, mismatched: 0 });
    // Its keys are made from the content.
    expect(again.results).toMatchObject(sent.results.map(({ receipt_id }) => ({ receipt_id, duplicate: true })));
  });

  test('a total is the same content under a used key as a number and as a string', async () => {
    const options = { idempotencyKey: 'number-or-string' };
    const send = (total: string | number) => client.submitOrder({ source_order_id: 'number', total }, options);
    const { receipt_id } = await send(49);
    expect(await send('49.00')).toMatchObject({ receipt_id, duplicate: true });
    await expect(send('49.01')).rejects.toMatchObject({ code: 'payload_mismatch', accepted: { receipt_id } });
  });

  test('an address that ends within a route gets an error that names the path of the request', async () => {
    const wrong = clientOf(`${api.url}/ingest`, account).submitOrder({ source_order_id: 'nowhere' });
    await expect(wrong).rejects.toThrow('The request went to /delivery/api/ingest/ingest/orders; check baseUrl');
  });

  test.each(['submitOrder', 'sendWebhook', 'submitMany'] as const)(
    'the error of %s under a used key names the receipt that keeps the delivery',
    async (call) => {
      const options = { idempotencyKey: `used by ${call}`.replaceAll(' ', '-') };
      const submit = async (order: Order) => {
        if (call !== 'submitMany') return client[call](order, options);
        for await (const { error } of client.submitMany([order], { idempotencyKey: () => options.idempotencyKey }))
          if (error) throw error;
      };
      const first = { source_order_id: `used-${call}`, address: 'Villa 7' };
      await submit(first);
      const { receipt_id } = await client.submitOrder(first, { ...options, wait: 30 });
      const mismatch = (order: Order) =>
        submit(order).then(
          () => expect(order).toBe('refused'),
          (error: IdempotencyMismatchError) => error,
        ) as Promise<IdempotencyMismatchError>;

      const corrected = await mismatch({ ...first, address: 'Villa 9' });
      expect(corrected).toMatchObject({ name: 'IdempotencyMismatchError', accepted: { receipt_id } });
      expect(await client.waitForReceipt(corrected.keptAs as string)).toMatchObject({
        status: 'duplicate',
        changes: [{ pointer: '/address', from: 'Villa 7', to: 'Villa 9' }],
      });
      const other = await mismatch({ ...first, source_order_id: `other-${call}` });
      expect(await client.waitForReceipt(other.keptAs as string)).toMatchObject({
        status: 'dead',
        attempts: 0,
        error: { code: 'idempotency_key_reused' },
      });
    },
  );

  test('a batch counts mismatches under a used key and names the receipts that keep them', async () => {
    const [one, two, three] = ordersNamed('key-of-a-batch', 3) as [Order, Order, Order];
    const idempotencyKey = 'batch-used-before';
    const before = await client.submitBatch([one, two, three], { idempotencyKey });
    await Promise.all(before.results.map((result) => client.waitForReceipt(result.receipt_id as string)));
    const after = await client.submitBatch([one, { ...two, total: '10' }, '{}'], { idempotencyKey });
    expect(after).toMatchObject({ accepted: 1, refused: 1, mismatched: 1 });
    expect(after.results).toEqual([
      { receipt_id: before.results[0]?.receipt_id, duplicate: true },
      {
        receipt_id: before.results[1]?.receipt_id,
        duplicate: true,
        payload_mismatch: true,
        kept_as: expect.any(String),
      },
      { error: expect.objectContaining({ code: 'validation_failed' }) },
    ]);
    const kept = await client.waitForReceipt(after.results[1]?.kept_as as string);
    expect(kept).toMatchObject({ status: 'duplicate', changes: [{ pointer: '/total', from: '9.50', to: '10' }] });
  });

  test('orders are reconciled by their own ids, and the receipt of a changed delivery lists its changes', async () => {
    const order = { source_order_id: 'asked-for', address: 'Villa 1' };
    const first = await client.submitOrder(order, { wait: 30 });
    const second = await client.submitOrder({ ...order, address: 'Villa 2' }, { wait: 30 });
    expect((await client.getReceipt(second.receipt_id)).changes).toEqual([
      { pointer: '/address', from: 'Villa 1', to: 'Villa 2' },
    ]);
    const { results } = await client.reconcile(['asked-for', 'forgotten']);
    const found = { status: 'duplicate', receipt_id: second.receipt_id, order_id: first.order_id };
    expect(results).toEqual([
      { source_order_id: 'asked-for', received_at: expect.any(String), ...found },
      { source_order_id: 'forgotten', status: 'never_seen', receipt_id: null, order_id: null, received_at: null },
    ]);
    await expect(client.reconcile([])).rejects.toMatchObject({ name: 'ValidationError' });
  });

  test.each(['rest', 'webhook'] as const)('orders are cancelled by %s, before and after they arrive', async (via) => {
    const id = `cancelled by ${via}`;
    const { order_id, receipt_id } = await client.submitOrder({ source_order_id: id }, { wait: 30 });
    const cancelled = { outcome: 'cancelled', source_order_id: id, order_id };
    expect(await client.cancelOrder(id, { via, reason: 'Sold out ü' })).toEqual(cancelled);
    expect(await client.getReceipt(receipt_id)).toMatchObject({ status: 'written', order_state: 'cancelled' });
    const early = { source_order_id: `${id}, early`, reason: 'Late' };
    const { results } = await client.cancelOrders([early, id], { via });
    expect(results).toEqual([{ outcome: 'held', source_order_id: early.source_order_id, order_id: null }, cancelled]);
    const order = { source_order_id: early.source_order_id };
    expect(await client.preview(order)).toMatchObject({ duplicate_of: null, cancellation_held: true });
    const arrived = await client.submitOrder(order, { wait: 30 });
    expect(await client.getReceipt(arrived.receipt_id)).toMatchObject({ order_state: 'cancelled' });
    const many = Array.from({ length: 1000 }, (_, index) => `${via} ${index}`);
    expect((await client.cancelOrders(many, { via })).results).toHaveLength(1000);
    await expect(client.cancelOrders([...many, 'too many'], { via })).rejects.toMatchObject({
      name: 'ValidationError',
      errors: [{ pointer: '/cancellations', code: 'not_a_list' }],
    });
  });

  test('events are followed through a restart of the program, each once and in order', async () => {
    const sender = await stack.account();
    await setEvents(stack.database.db, sender.id, true);
    const reader = clientOf(api.url, sender);
    await reader.submitBatch(ordersNamed('event', 3));
    const seen: OrdersEvent[] = [];
    for await (const event of reader.events()) if (seen.push(event) === 3) break;
    expect(seen.map(({ type, data }) => [type, data.sequence])).toEqual([1, 2, 3].map((n) => ['receipt.written', n]));
    expect(new Set(seen.map(({ data }) => data.source_order_id))).toHaveProperty('size', 3);
    expect(await reader.getEvents({ after: 1, limit: 1 })).toEqual({ events: [seen[1]], next: '2', more: true });

    const following = reader.events({ after: seen[2]?.data.sequence });
    const next = following.next();
    const { outcome, order_id } = await reader.cancelOrder('event-0', { reason: 'Sold out' });
    expect(outcome).toBe('cancelled');
    expect(await next).toMatchObject({
      value: { type: 'order.cancelled', data: { sequence: 4, order_id, reason: 'Sold out' } },
    });
    await following.return();
    expect(await reader.getEvents({ after: '4', wait: 1 })).toEqual({ events: [], next: '4', more: false });
  });

  test('each code of the service becomes the error class of its status', async () => {
    const other = await stack.account();
    const suspended = await stack.account();
    await setSuspended(stack.database.db, suspended.id, true);
    const moved = await stack.account();
    await stack.database
      .knex('accounts')
      .where({ account_id: moved.id })
      .update({ moved_to: 'https://orders-2.example.com' });
    const withKey = async (access: KeyAccess) => ({
      ...other,
      key: (await createKey(stack.database.db, other.id, 'limited', access)).key,
    });
    const reader = await withKey({ scopes: ['read'] });
    const elsewhere = await withKey({ addresses: ['203.0.113.7'] });
    const signedOnly = await stack.account({ signing: true });
    await setSignedOnly(stack.database.db, signedOnly.id, true);
    const withEvents = await stack.account();
    await setEvents(stack.database.db, withEvents.id, true);
    const { url } = api;
    const order = { source_order_id: 'refused' };
    const by = (options: Options) => clientOf(url, account, { maxRetries: 0, ...options });
    /** A client that sends changed headers or another method. */
    const sending = (changed: Record<string, string>, { method }: { method?: string } = {}) =>
      by({
        fetch: (to, init) => {
          const headers = new Headers(init?.headers);
          for (const [name, value] of Object.entries(changed)) value ? headers.set(name, value) : headers.delete(name);
          return fetch(to, { ...init, headers, ...(method && { method }) });
        },
      });
    const limited = await stack.intake({ RATE_LIMIT: '1/60s' });
    const full = await stack.intake({ MAX_IN_FLIGHT: '2' });
    const impatient = await stack.intake({ PG_QUERY_TIMEOUT: '3s' });

    const provoke: Record<ProblemCode, () => Promise<unknown>> = {
      missing_api_key: () => sending({ authorization: '' }).submitOrder(order),
      invalid_api_key: () => by({ apiKey: createApiKey() }).submitOrder(order),
      wrong_installation: () => clientOf(url, moved).submitOrder(order),
      address_not_allowed: () => clientOf(url, elsewhere).submitOrder(order),
      account_suspended: () => clientOf(url, suspended).submitOrder(order),
      insufficient_scope: () => clientOf(url, reader).submitOrder(order),
      signature_required: () => clientOf(url, signedOnly).submitOrder(order),
      signing_unavailable: () => clientOf(url, other).sendWebhook(order, { signingSecret: 'oss_none' }),
      missing_signature: () => sending({ 'x-service-signature': '' }).sendWebhook(order),
      invalid_signature: () => by({}).sendWebhook(order, { signingSecret: 'oss_wrong' }),
      unsupported_media_type: () => sending({ 'content-type': 'text/plain' }).preview(order),
      unsupported_content_encoding: () => sending({ 'content-encoding': 'gzip' }).submitOrder(order),
      payload_too_large: () => by({}).submitOrder({ ...order, address: 'x'.repeat(5000) }),
      malformed_body: () => by({}).submitOrder('{'),
      validation_failed: () => by({}).submitOrder({ ...order, emirate: 'Sharjha' }, { strict: true }),
      invalid_idempotency_key: () => sending({ 'idempotency-key': 'a b' }).submitOrder(order),
      invalid_query: () => clientOf(url, withEvents).getEvents({ after: 1 }),
      events_disabled: () => clientOf(url, other).getEvents(),
      cursor_expired: async () => {
        await stack.database
          .knex('event_logs')
          .where({ account_id: withEvents.id })
          .update({ last_sequence: 2, removed_to: 2 });
        await clientOf(url, withEvents).getEvents({ after: 1 });
      },
      receipt_not_found: () => by({}).waitForReceipt('01a1f9bd-9a17-7354-8023-e51a3a7d2f89'),
      not_found: () => by({ baseUrl: `${url}/elsewhere` }).submitOrder(order),
      method_not_allowed: () => sending({}, { method: 'PUT' }).submitOrder(order),
      // With all retries, which would come after the timeout of the call.
      rate_limited: async () => {
        const client = clientOf(limited.api.url, account);
        await client.submitOrder({ source_order_id: 'within the rate' });
        await client.submitOrder(order);
      },
      overloaded: async () => {
        const lock = await lockTables(stack.database.knex, 'receipts');
        const held = clientOf(full.api.url, account).submitOrder({ source_order_id: 'held' });
        try {
          await whoWait(stack.database.knex, 1, 'relation');
          await clientOf(full.api.url, account, { maxRetries: 0 }).submitOrder(order);
        } finally {
          await lock.release();
          await held;
        }
      },
      storage_unavailable: async () => {
        const lock = await lockTables(stack.database.knex, 'receipts');
        const client = clientOf(impatient.api.url, account, { maxRetries: 0, timeoutMs: 120_000 });
        await client.submitOrder(order).finally(() => lock.release());
      },
      internal_error: async () => {
        await stack.database.knex.raw('alter table outbox rename to elsewhere');
        const undo = () => stack.database.knex.raw('alter table elsewhere rename to outbox');
        await by({}).submitOrder({ source_order_id: 'fault' }).finally(undo);
      },
    };
    const classes: Record<number, string> = {
      401: 'AuthenticationError',
      403: 'PermissionError',
      404: 'NotFoundError',
      410: 'CursorExpiredError',
      421: 'WrongInstallationError',
      422: 'ValidationError',
      429: 'RateLimitError',
      500: 'ServerError',
      503: 'UnavailableError',
    };
    for (const [code, run] of Object.entries(provoke)) {
      const error = await run().then(
        () => 'accepted',
        (thrown) => thrown,
      );
      const { status } = PROBLEMS[code as ProblemCode];
      expect(error).toBeInstanceOf(ProblemError);
      expect(error).toMatchObject({ code, status, name: classes[status] ?? 'InvalidRequestError' });
      expect(error.requestId).toBe(error.problem.request_id);
      if (status === 422) expect(error.errors).toMatchObject([{ pointer: '/emirate', code: 'emirate_corrected' }]);
      if (status === 429) expect(error.retryAfterSeconds).toBeGreaterThan(30);
    }
  });
});

describe('the client and a service that is killed and restarted', () => {
  let stack: Stack;
  let intake: Child;
  let settings: Record<string, string>;
  let url: string;
  let account: TestAccount;
  let client: OrdersClient;
  let worker: RunningWorker;

  beforeAll(async () => {
    stack = await startStack(QUEUE_KIND);
    const [port, adminPort] = [await freePort(), await freePort()];
    settings = { ...stack.env, PORT: `${port}`, ADMIN_PORT: `${adminPort}` };
    account = await stack.account();
    url = `http://127.0.0.1:${port}`;
    client = clientOf(url, account, { timeoutMs: 120_000, maxRetries: 50 });
    worker = await stack.worker();
    await start();
  });

  async function start(): Promise<void> {
    intake = await startApp('intake', settings);
    await untilReady(Number(settings.ADMIN_PORT));
  }

  test('writes each order once if the service is killed during a wait and during a request', async () => {
    const { receipt_id } = await client.submitOrder({ source_order_id: 'between' });
    await intake.stop('SIGKILL');
    const waiting = client.waitForReceipt(receipt_id, { timeoutMs: 120_000 });
    const sending = client.submitOrder({ source_order_id: 'while it is down' }, { wait: 30 });
    await start();
    expect(await waiting).toMatchObject({ receipt_id, status: 'written' });
    expect(await sending).toMatchObject({ status: 'written' });
    // The order is stored and waits for its outcome without a worker, and the service is killed before the reply.
    await worker.close();
    const held = client.submitOrder({ source_order_id: 'in doubt' }, { wait: 30 });
    const { knex } = stack.database;
    await until('it is stored', () => knex('receipts').where({ source_order_id: 'in doubt' }).first());
    await intake.stop('SIGKILL');
    await start();
    worker = await stack.worker();
    const replayed = await held;
    expect(replayed).toMatchObject({ duplicate: true, status: 'written' });
    await expectSettled(stack, account, written([receipt_id, (await sending).receipt_id, replayed.receipt_id]));
  });

  test('gets all orders accepted and written once if the service is killed while many are sent', async () => {
    const many = await stack.account();
    const receipts = new Set<string>();
    const starts: Promise<void>[] = [];
    const results = clientOf(url, many, { timeoutMs: 120_000 }).submitMany(ordersNamed('many', 200));
    for await (const { accepted, error } of results) {
      expect(error).toBeUndefined();
      receipts.add((accepted as Accepted).receipt_id);
      if (receipts.size === 60) {
        await intake.stop('SIGKILL');
        starts.push(start());
      }
    }
    await Promise.all(starts);
    expect(receipts.size).toBe(200);
    await expectSettled(stack, many, written(receipts));
  });
});
