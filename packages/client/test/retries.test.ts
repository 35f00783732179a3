import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { backoffMs } from '../src/abort.ts';
import { AuthenticationError, ConnectionError, OrdersError, RateLimitError, TimeoutError } from '../src/index.ts';
import {
  type Arrived,
  accepted,
  breakOff,
  hangUp,
  keepSilent,
  RECEIPT_ID,
  refuse,
  type Step,
  startScript,
  stopClock,
  waitFor,
} from './scripted-server.ts';

const ORDER = { source_order_id: 'r-1' };

/** Makes the random pauses after failures as short as possible. */
const withoutPauses = () => jest.spyOn(Math, 'random').mockReturnValue(0);
afterEach(() => {
  jest.restoreAllMocks();
});

const keysOf = (arrived: Arrived[]) => new Set(arrived.map(({ headers }) => headers['idempotency-key']));

describe('a retryable failure', () => {
  test.each<[what: string, ...Step[]]>([
    ['connections that break before and during the reply', hangUp, breakOff],
    ['too many requests, and a request that came too slowly', refuse(429, 'rate_limited'), refuse(408, 'late')],
    ['an overload, and a service that has no storage', refuse(503, 'overloaded'), refuse(503, 'storage_unavailable')],
    ['errors of the service and of a proxy', refuse(500, 'internal_error'), refuse(502, 'x'), refuse(504, 'x')],
  ])('%s: the same bytes are sent again under the same key', async (_, first, ...more) => {
    withoutPauses();
    await using script = await startScript(first as Step, ...more, accepted);
    expect(await script.client().submitOrder(ORDER)).toEqual({ receipt_id: RECEIPT_ID });
    expect(script.arrived).toHaveLength(more.length + 2);
    expect(keysOf(script.arrived)).toEqual(new Set([createHash('sha256').update(JSON.stringify(ORDER)).digest('hex')]));
    expect(new Set(script.arrived.map(({ body }) => body.toString()))).toEqual(new Set([JSON.stringify(ORDER)]));
    expect(new Set(script.arrived.map(({ headers }) => headers['x-request-id']))).toHaveProperty('size', 1);
  });

  test('the key follows from the content, or is the given one', async () => {
    await using script = await startScript(accepted);
    const client = script.client();
    await client.submitOrder(ORDER);
    await client.submitOrder(ORDER);
    expect(keysOf(script.arrived)).toHaveProperty('size', 1);
    await client.submitOrder({ ...ORDER, total: '1.00' });
    expect(keysOf(script.arrived)).toHaveProperty('size', 2);
    await client.submitOrder(ORDER, { idempotencyKey: 'mine' });
    expect(script.arrived[3]?.headers['idempotency-key']).toBe('mine');
  });

  test('an order that is changed during the call is sent unchanged', async () => {
    withoutPauses();
    await using script = await startScript(hangUp, accepted);
    const order = { source_order_id: 'first' };
    const submitted = script.client().submitOrder(order);
    order.source_order_id = 'second';
    await submitted;
    expect(script.arrived.map(({ body }) => JSON.parse(body.toString()).source_order_id)).toEqual(['first', 'first']);
  });

  test('there are five retries by default, then the last error is thrown', async () => {
    withoutPauses();
    await using script = await startScript(refuse(503, 'overloaded'));
    await expect(script.client().submitOrder(ORDER)).rejects.toMatchObject({ name: 'UnavailableError', status: 503 });
    expect(script.arrived).toHaveLength(6);
    await expect(script.client().getReceipt(RECEIPT_ID, { maxRetries: 1 })).rejects.toThrow(OrdersError);
    expect(script.arrived).toHaveLength(8);
    await expect(script.client({ maxRetries: 0 }).preview(ORDER)).rejects.toThrow(OrdersError);
    expect(script.arrived).toHaveLength(9);
  });

  test.each([
    ['in seconds', () => refuse(429, 'rate_limited', { 'Retry-After': '1' })],
    [
      'as a date, counted from that of the reply',
      () =>
        refuse(503, 'overloaded', {
          Date: new Date(1_000_000_000_000).toUTCString(),
          'Retry-After': new Date(1_000_000_001_000).toUTCString(),
        }),
    ],
  ])('Retry-After, %s, is obeyed', async (_, step) => {
    withoutPauses();
    using clock = stopClock();
    await using script = await startScript(step(), accepted);
    const submitted = script.client().submitOrder(ORDER);
    await clock.untilWaits(1000);
    expect(script.arrived).toHaveLength(1);
    clock.advance(1000);
    expect(await submitted).toEqual({ receipt_id: RECEIPT_ID });
  });

  test('a Retry-After beyond the timeout fails at once', async () => {
    await using script = await startScript(refuse(429, 'rate_limited', { 'Retry-After': '3600' }));
    const error = await script
      .client()
      .submitOrder(ORDER)
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfterSeconds: 3600, code: 'rate_limited', requestId: 'of-the-service' });
    expect(script.arrived).toHaveLength(1);
  });

  test('maximum pauses double up to eight seconds, and each pause is a random part of its maximum', () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(1);
    expect([0, 1, 2, 3, 4, 5, 60, 5000].map(backoffMs)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000, 8000]);
    random.mockReturnValue(0);
    expect(backoffMs(4)).toBe(0);
  });
});

test('a rejection is not retried', async () => {
  withoutPauses();
  await using script = await startScript(refuse(401, 'invalid_api_key'));
  await expect(script.client().submitOrder(ORDER)).rejects.toThrow(AuthenticationError);
  expect(script.arrived).toHaveLength(1);
});

describe('the timeout', () => {
  let clock: ReturnType<typeof stopClock>;
  beforeEach(() => {
    clock = stopClock();
    withoutPauses();
  });
  afterEach(() => clock[Symbol.dispose]());

  /** Replies after more than a third of a timeout of six seconds. */
  const slow: Step = (response, one) => {
    clock.advance(2200);
    accepted(response, one);
  };

  test('ends an attempt on a silent connection after a third of it', async () => {
    await using script = await startScript(keepSilent, accepted);
    const submitted = script.client({ timeoutMs: 6000 }).submitOrder(ORDER);
    await waitFor(() => script.arrived.length === 1);
    expect(clock.waits()).toEqual([2000]);
    clock.advance(2000);
    await submitted;
    expect(script.arrived).toHaveLength(2);
    expect(keysOf(script.arrived)).toHaveProperty('size', 1);
  });

  test('is for one attempt alone if there are no retries', async () => {
    await using script = await startScript(slow);
    await script.client().submitOrder(ORDER, { timeoutMs: 6000, maxRetries: 0 });
    expect(script.arrived).toHaveLength(1);
  });

  test('leaves all of the rest to an attempt after which there is no time or retry for another', async () => {
    await using script = await startScript(slow);
    await script.client().submitOrder(ORDER, { timeoutMs: 6000 });
    expect(script.arrived).toHaveLength(2);
    await script.client().submitOrder(ORDER, { timeoutMs: 6000, maxRetries: 1 });
    expect(script.arrived).toHaveLength(4);
  });

  test('causes a message with the time of the whole call and its attempts, and the previous error', async () => {
    const silent: Step = () => clock.advance(6000);
    await using script = await startScript(refuse(503, 'overloaded'), silent);
    const error = await script
      .client()
      .submitOrder(ORDER, { timeoutMs: 6000, maxRetries: 1 })
      .catch((thrown) => thrown);
    expect(error.message).toBe('Timed out after 6000 ms and 2 attempts: no reply.');
    expect(error.cause).toMatchObject({ code: 'overloaded' });
  });

  test('ends the call with a TimeoutError', async () => {
    await using script = await startScript(() => clock.advance(2000));
    const error = await script
      .client()
      .submitOrder(ORDER, { timeoutMs: 2000 })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'timed_out', requestId: expect.any(String) });
    expect(error.requestId).toBe(script.arrived[0]?.headers['x-request-id']);
  });

  test('is extended by the time that the service may hold its reply', async () => {
    const late: Step = (response, one) => {
      clock.advance(20_500);
      accepted(response, one);
    };
    await using script = await startScript(late);
    const options = { timeoutMs: 600, maxRetries: 0, wait: 20 };
    expect(await script.client().submitOrder(ORDER, options)).toEqual({ receipt_id: RECEIPT_ID });
    expect(script.arrived[0]?.headers.prefer).toBe('wait=20');
  });

  test('a refused connection causes a ConnectionError that names the address', async () => {
    const script = await startScript(accepted);
    const client = script.client({ maxRetries: 0 });
    await script[Symbol.asyncDispose]();
    const error = await client.submitOrder(ORDER).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/^No reply from (\S+) after \d+ ms and 1 attempt: ECONNREFUSED\.$/);
    expect(error.message).toContain(` ${script.url} `);
  });
});

describe('an abort', () => {
  const REASON = new Error('enough');

  test.each<[when: string, Step, ms: number]>([
    ['while a reply is awaited', keepSilent, 10_000],
    ['in a pause between attempts', refuse(503, 'overloaded', { 'Retry-After': '20' }), 20_000],
  ])('%s ends the call with its reason, and leaves no listener and no timer', async (_, step, ms) => {
    withoutPauses();
    using clock = stopClock();
    const controller = new AbortController();
    await using script = await startScript(step);
    const call = script.client().submitOrder(ORDER, { signal: controller.signal });
    const ended = expect(call).rejects.toBe(REASON);
    await waitFor(() => script.arrived.length === 1);
    await clock.untilWaits(ms);
    controller.abort(REASON);
    await ended;
    expect(script.arrived).toHaveLength(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(clock.waits()).toEqual([]);
  });

  test('before the call prevents the request', async () => {
    await using script = await startScript(accepted);
    const call = script.client().submitOrder(ORDER, { signal: AbortSignal.abort(REASON) });
    await expect(call).rejects.toBe(REASON);
    expect(script.arrived).toEqual([]);
  });

  test.each<[when: string, Step]>([
    ['while replies are awaited', keepSilent],
    ['in pauses between attempts', refuse(503, 'overloaded', { 'Retry-After': '20' })],
  ])('%s ends many calls, which share one listener', async (_, step) => {
    const controller = new AbortController();
    await using script = await startScript(step);
    const client = script.client();
    const calls = Array.from({ length: 12 }, () => client.submitOrder(ORDER, { signal: controller.signal }));
    const ends = Promise.allSettled(calls);
    await waitFor(() => script.arrived.length === 12);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort(REASON);
    expect(await ends).toEqual(Array(12).fill({ status: 'rejected', reason: REASON }));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a successful call leaves no listener', async () => {
    withoutPauses();
    const { signal } = new AbortController();
    await using script = await startScript(hangUp, accepted);
    await script.client().submitOrder(ORDER, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
