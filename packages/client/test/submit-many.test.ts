import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { toLines } from '../src/bodies.ts';
import { AuthenticationError, type Order, type Submitted } from '../src/index.ts';
import {
  type Arrived,
  accepted,
  answer,
  KEPT_AS,
  keepSilent,
  RECEIPT_ID,
  refuse,
  type Step,
  startScript,
  waitFor,
} from './scripted-server.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const idOf = ({ body }: Arrived): string => JSON.parse(body.toString()).source_order_id;
const ordersTo = (count: number): Order[] =>
  Array.from({ length: count }, (_, index) => ({ source_order_id: `m-${index}` }));

/** An input that counts its reads and records whether it was closed. */
function countingInput(count: number) {
  const seen: { read: number; isClosed: boolean } = { read: 0, isClosed: false };
  async function* read() {
    try {
      for (const order of ordersTo(count)) {
        seen.read++;
        yield order;
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, orders: read() };
}

async function take<T>(results: AsyncIterable<T>): Promise<{ results: T[]; error: unknown }> {
  const taken: T[] = [];
  try {
    for await (const result of results) taken.push(result);
    return { results: taken, error: undefined };
  } catch (error) {
    return { results: taken, error };
  }
}

test.each<[string, (orders: Order[]) => Iterable<Order> | AsyncIterable<Order>]>([
  ['a list', (orders) => orders],
  ['a set', (orders) => new Set(orders)],
  [
    'a stream',
    async function* (orders) {
      yield* orders;
    },
  ],
])('every order of %s is sent once, under its own key, and has its result', async (_, input) => {
  await using script = await startScript(accepted);
  const orders = ordersTo(50);
  const { results, error } = await take(script.client().submitMany(input(orders)));
  expect(error).toBeUndefined();
  expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(orders.map((_, index) => index));
  for (const { index, order, accepted } of results) {
    expect(order).toBe(orders[index]);
    expect(accepted).toEqual({ receipt_id: RECEIPT_ID });
  }
  expect(script.arrived).toHaveLength(50);
  expect(new Set(script.arrived.map(idOf))).toEqual(new Set(orders.map(({ source_order_id }) => source_order_id)));
  expect(new Set(script.arrived.map(({ headers }) => headers['idempotency-key']))).toHaveProperty('size', 50);
});

test('at most `concurrency` orders are in flight, and results arrive as soon as they are known', async () => {
  const waiting: (() => void)[] = [];
  await using script = await startScript((response, one) => {
    // The first two orders are answered last.
    if (['m-0', 'm-1'].includes(idOf(one))) waiting.push(() => accepted(response, one));
    else accepted(response, one);
    if (script.arrived.length === 6) for (const reply of waiting.splice(0)) reply();
  });
  const { results } = await take(script.client().submitMany(ordersTo(6), { concurrency: 3 }));
  expect(results).toHaveLength(6);
  expect(results.at(0)?.index).toBe(2);
});

test('the input is read only as fast as results are taken', async () => {
  let answered = 0;
  await using script = await startScript((response, one) => {
    response.on('close', () => answered++);
    accepted(response, one);
  });
  const { seen, orders } = countingInput(100);
  const results = script.client().submitMany(orders, { concurrency: 4 });
  expect(seen.read).toBe(0);
  for (let taken = 1; taken <= 20; taken++) {
    await results.next();
    expect(seen.read).toBeLessThanOrEqual(taken + 3);
    await waitFor(() => answered === seen.read);
  }
  await results.return();
  expect(seen.isClosed).toBe(true);
});

test('a slow input does not delay the results of sent orders', async () => {
  await using script = await startScript(accepted);
  const more = Promise.withResolvers<void>();
  async function* slow() {
    yield* ordersTo(2);
    await more.promise;
    yield { source_order_id: 'last' };
  }
  const results = script.client().submitMany(slow());
  await results.next();
  await results.next();
  more.resolve();
  expect((await results.next()).value).toMatchObject({ index: 2, accepted: { receipt_id: RECEIPT_ID } });
  expect((await results.next()).done).toBe(true);
});

test('a rejected order is a result and does not affect the others', async () => {
  await using script = await startScript((response, one) =>
    (idOf(one) === 'm-3' ? refuse(422, 'validation_failed') : accepted)(response, one),
  );
  const { results, error } = await take<Submitted<Order>>(script.client().submitMany(ordersTo(10)));
  expect(error).toBeUndefined();
  expect(results.filter(({ error }) => error)).toMatchObject([{ index: 3, error: { name: 'ValidationError' } }]);
  expect(results).toHaveLength(10);
});

test('an order that cannot be sent, or whose key belongs to another order, is a result', async () => {
  await using script = await startScript((response, one) =>
    (idOf(one) === 'mismatch'
      ? answer(202, { receipt_id: RECEIPT_ID, payload_mismatch: true, kept_as: KEPT_AS })
      : accepted)(response, one),
  );
  const orders = [
    '{"source_order_id":"\ud83d"}',
    '{"source_order_id":"mismatch"}',
    '{"source_order_id":"no key"}',
    '{}',
  ];
  const idempotencyKey = (order: string, index: number) =>
    (order.includes('no key') ? undefined : `key-${index}`) as string;
  const { results, error } = await take(script.client().submitMany(orders, { idempotencyKey }));
  expect(error).toBeUndefined();
  expect(results.sort((a, b) => a.index - b.index)).toMatchObject([
    { error: { name: 'TypeError', message: expect.stringContaining('surrogate') } },
    { error: { name: 'IdempotencyMismatchError', accepted: { receipt_id: RECEIPT_ID }, keptAs: KEPT_AS } },
    { error: { name: 'TypeError', message: expect.stringMatching(/^idempotencyKey must be/) } },
    { accepted: { receipt_id: RECEIPT_ID } },
  ]);
  expect(script.arrived).toHaveLength(2);
});

test.each<[string, Step]>([
  [
    'the page of a portal',
    (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Sign in</h1>'),
  ],
  ['a redirect', (response) => response.writeHead(302, { Location: 'https://portal.invalid/' }).end()],
])('%s in place of the service ends the iteration', async (_, step) => {
  await using script = await startScript(accepted, step);
  const { results, error } = await take(script.client().submitMany(ordersTo(100), { concurrency: 2 }));
  expect(error).toMatchObject({ code: 'unexpected_reply' });
  expect(results).toHaveLength(1);
  expect(script.arrived.length).toBeLessThan(10);
});

test('an error in idempotencyKey() ends the iteration, and a value that is not a function is rejected before', async () => {
  await using script = await startScript(accepted);
  const broken = new Error('no key known');
  const idempotencyKey = () => {
    throw broken;
  };
  expect(await take(script.client().submitMany(ordersTo(3), { idempotencyKey }))).toEqual({
    results: [],
    error: broken,
  });
  for (const key of [null, 'night']) {
    const { error } = await take(script.client().submitMany(ordersTo(3), { idempotencyKey: key as never }));
    expect(error).toBeInstanceOf(TypeError);
  }
  expect(script.arrived).toEqual([]);
});

test('an order is retried until its timeout, whatever maxRetries says', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  await using script = await startScript(
    refuse(503, 'overloaded'),
    ...Array(19).fill(refuse(503, 'overloaded')),
    accepted,
  );
  const { results } = await take(script.client({ maxRetries: 0 }).submitMany(ordersTo(1)));
  expect(results).toMatchObject([{ accepted: { receipt_id: RECEIPT_ID } }]);
});

test('an error that affects every order is thrown after the results of earlier orders', async () => {
  await using script = await startScript(accepted, accepted, refuse(401, 'invalid_api_key'));
  const { seen, orders } = countingInput(100);
  const { results, error } = await take(script.client().submitMany(orders, { concurrency: 2 }));
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual([0, 1]);
  expect(script.arrived.length).toBeLessThan(10);
  expect(seen.isClosed).toBe(true);
});

test('an error of the input is thrown after the results of earlier orders', async () => {
  await using script = await startScript(accepted);
  const broken = new Error('the file is gone');
  async function* failing() {
    yield* ordersTo(3);
    throw broken;
  }
  const { results, error } = await take(script.client().submitMany(failing()));
  expect(error).toBe(broken);
  expect(results).toHaveLength(3);
});

describe('ending early', () => {
  test.each([false, true])(
    'with break cancels requests in flight and closes the input (during a read: %s)',
    async (isSlow) => {
      await using script = await startScript(accepted, keepSilent);
      const { seen, orders } = countingInput(isSlow ? 3 : 100);
      async function* input() {
        yield* orders;
        await new Promise(() => undefined);
      }
      const { signal } = new AbortController();
      for await (const _ of script
        .client({ timeoutMs: 600_000 })
        .submitMany(isSlow ? input() : orders, { concurrency: 4, signal })) {
        break;
      }
      expect(seen.read).toBeLessThanOrEqual(5);
      expect(seen.isClosed || isSlow).toBe(true);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
      const open = script.arrived.slice(1).filter(({ socket }) => !socket.destroyed);
      await Promise.all(open.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))));
    },
  );

  test.each(['while orders are sent', 'while the input is read'])(
    'by an abort %s throws its reason at once',
    async (when) => {
      const controller = new AbortController();
      const reason = new Error('enough');
      await using script = await startScript(accepted, keepSilent);
      async function* input() {
        yield* ordersTo(when === 'while the input is read' ? 1 : 5);
        await new Promise(() => undefined);
      }
      const results: number[] = [];
      const loop = async () => {
        for await (const { index } of script
          .client()
          .submitMany(input(), { concurrency: 3, signal: controller.signal })) {
          results.push(index);
          setTimeout(() => controller.abort(reason), 50);
        }
      };
      await expect(loop()).rejects.toBe(reason);
      // Of the orders that are sent at the same time, any one can arrive first.
      expect(results).toHaveLength(1);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    },
  );
});

test('orders can be sent as webhooks with given keys', async () => {
  await using script = await startScript(accepted);
  const options = {
    via: 'webhook',
    idempotencyKey: (order: Order, index: number) => `${order.source_order_id}/${index}`,
  } as const;
  await take(script.client({ timeoutMs: 600_000 }).submitMany(ordersTo(2), options));
  expect(new Set(script.arrived.map(({ path, headers }) => `${path} ${headers['idempotency-key']}`))).toEqual(
    new Set(['/ingest/webhook m-0/0', '/ingest/webhook m-1/1']),
  );
  expect(() => script.client({ signingSecret: undefined }).submitMany([], options)).toThrow(/^A webhook needs/);
  await expect(script.client({ timeoutMs: 600_000 }).submitMany([], { concurrency: 0 }).next()).rejects.toThrow(
    /^concurrency must be/,
  );
});

test('an invalid input or `via` is reported before anything is sent, and is not quoted', async () => {
  await using script = await startScript(accepted);
  for (const input of ['{"secret":1}', undefined, null, 5, { source_order_id: 'secret' }])
    await expect(
      script
        .client()
        .submitMany(input as never)
        .next(),
    ).rejects.toThrow(new TypeError('orders must be a list or a stream of orders: any iterable or async iterable.'));
  expect(() => script.client().submitMany(ordersTo(1), { via: 'webhooks' as never })).toThrow(/^via must be/);
  expect(script.arrived).toEqual([]);
});

describe('a batch', () => {
  test('has one line for each order, whatever the order contains', () => {
    const orders = [
      { source_order_id: 'a\nb' },
      '{\r\n  "source_order_id": "c"\n}\n',
      '',
      ' \n',
      undefined,
      '{"broken',
    ];
    expect(toLines(orders as string[]).split('\n')).toEqual([
      '{"source_order_id":"a\\nb"}',
      '{\t\t  "source_order_id": "c"\t}\t',
      'null',
      'null',
      'null',
      '{"broken',
      '',
    ]);
  });

  test('keeps a line break inside a string invalid', () => {
    for (const text of ['{"source_order_id":"a\nb"}', '{"source_order_id":"a\r\nb\\"}']) {
      const line = toLines([text]);
      expect(line.match(/[\r\n]/g)).toHaveLength(1);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
      expect(() => JSON.parse(line)).toThrow(SyntaxError);
    }
  });

  test('returns the count of mismatched orders and the receipts that keep them', async () => {
    const results = [{ receipt_id: RECEIPT_ID, duplicate: true, payload_mismatch: true, kept_as: KEPT_AS }];
    const reply = { accepted: 0, refused: 0, mismatched: 1, results };
    await using script = await startScript(answer(202, reply));
    expect(await script.client().submitBatch(['{}'])).toEqual(reply);
  });

  test('is one request under one key, with a result for each order', async () => {
    const results = [{ receipt_id: RECEIPT_ID }, { error: { status: 400, code: 'malformed_body', detail: 'No.' } }];
    await using script = await startScript(answer(202, { accepted: 1, refused: 1, results }));
    const client = script.client();
    const options = { idempotencyKey: 'night', strict: true };
    expect((await client.submitBatch([{ source_order_id: 'a' }, '{'], options)).results).toEqual(results);
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = script.arrived;
    expect([path, `${body}`]).toEqual(['/ingest/orders/batch', '{"source_order_id":"a"}\n{\n']);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'idempotency-key': 'night',
      prefer: 'handling=strict',
    });
    await expect(client.submitBatch(['{}'])).rejects.toThrow('The reply has 2 results for 1 orders.');
  });

  test('reconcile posts the ids', async () => {
    await using script = await startScript(answer(200, { results: [] }));
    expect(await script.client().reconcile(['a', 'b'])).toEqual({ results: [] });
    expect(script.arrived[0]?.path).toBe('/ingest/reconcile');
    expect(String(script.arrived[0]?.body)).toBe('{"source_order_ids":["a","b"]}');
  });
});
