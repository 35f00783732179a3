import { afterEach, expect, jest, test } from '@jest/globals';
import { CursorExpiredError, InvalidRequestError, OrdersError, type OrdersEvent } from '../src/index.ts';
import {
  type Arrived,
  answer,
  hangUp,
  KEY,
  keepSilent,
  refuse,
  type Step,
  startScript,
  stopClock,
  waitFor,
} from './scripted-server.ts';

const eventOf = (sequence: number): OrdersEvent => ({
  id: `evt_${sequence}`,
  type: 'receipt.written',
  timestamp: '2026-11-24T08:30:10.000Z',
  data: { sequence, receipt_id: 'r', source_order_id: `e-${sequence}`, order_id: sequence },
});
const pageOf = (...sequences: number[]) => answer(200, pageBody(...sequences));
const pageBody = (...sequences: number[]) => ({
  events: sequences.map(eventOf),
  next: `${sequences.at(-1) ?? 0}`,
  more: false,
});
const pathsOf = ({ arrived }: { arrived: Arrived[] }) => arrived.map(({ path }) => path);

afterEach(() => {
  jest.restoreAllMocks();
});

/** Reads `count` events, then leaves the loop. */
async function take(events: AsyncIterable<OrdersEvent>, count: number): Promise<number[]> {
  const sequences: number[] = [];
  for await (const { data } of events) if (sequences.push(data.sequence) === count) break;
  return sequences;
}

test('a page is requested with its cursor, its limit and a wait, or with none of them', async () => {
  await using script = await startScript(pageOf(1, 2));
  const client = script.client();
  expect(await client.getEvents()).toEqual(pageBody(1, 2));
  await client.getEvents({ after: '41', limit: 1000, wait: 20 });
  await client.getEvents({ after: 42 });
  await client.getEvents({ after: 'newest' });
  await client.getEvents({ after: null });
  expect(pathsOf(script)).toEqual([
    '/ingest/events',
    '/ingest/events?after=41&limit=1000',
    '/ingest/events?after=42',
    '/ingest/events?after=newest',
    '/ingest/events',
  ]);
  expect(script.arrived.map(({ headers }) => headers.prefer)).toEqual([
    undefined,
    'wait=20',
    undefined,
    undefined,
    undefined,
  ]);
  expect(script.arrived[0]).toMatchObject({ method: 'GET', headers: { authorization: `Bearer ${KEY}` } });
});

test('a page is retried after temporary failures', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  await using script = await startScript(hangUp, refuse(503, 'overloaded'), refuse(429, 'rate_limited'), pageOf(1));
  expect(await script.client().getEvents({ after: '0' })).toEqual(pageBody(1));
  expect(new Set(pathsOf(script))).toEqual(new Set(['/ingest/events?after=0']));
  await using down = await startScript(refuse(503, 'overloaded'));
  await expect(down.client().getEvents({ maxRetries: 1 })).rejects.toMatchObject({ status: 503 });
  expect(down.arrived).toHaveLength(2);
});

test('the time of a wait is added to the timeout', async () => {
  using clock = stopClock();
  await using script = await startScript((response, arrived) => {
    clock.advance(1200);
    pageOf(1)(response, arrived);
  });
  const client = script.client({ timeoutMs: 300, maxRetries: 0 });
  await expect(client.getEvents()).rejects.toMatchObject({ code: 'timed_out' });
  expect(await client.getEvents({ wait: 1 })).toEqual(pageBody(1));
});

test.each<[string, object, string]>([
  ['a cursor that is none', { after: 'evt_1' }, 'after must be'],
  ['a negative cursor', { after: -1 }, 'after must be'],
  ['an empty cursor', { after: '' }, 'after must be'],
  ['a limit of 0', { limit: 0 }, 'limit must be'],
  ['a limit that is too large', { limit: 1001 }, 'limit must be'],
  ['a wait that is too long', { wait: 31 }, 'wait must be'],
])('nothing is sent for %s', async (_, options, message) => {
  await using script = await startScript(pageOf());
  await expect(script.client().getEvents(options)).rejects.toMatchObject({
    name: 'TypeError',
    message: expect.stringContaining(message),
  });
  expect(script.arrived).toEqual([]);
});

test('nothing is sent by a loop with a wrong cursor', async () => {
  await using script = await startScript(pageOf());
  await expect(take(script.client().events({ after: 'x' }), 1)).rejects.toThrow('after must be');
  expect(script.arrived).toEqual([]);
});

test.each<[string, unknown]>([
  ['of something else', { status: 'ok' }],
  ['without a cursor', { events: [] }],
  ['with an event without data', { events: [{ id: 'evt_1', type: 'x', timestamp: 'x' }], next: '1' }],
])('a reply %s is not taken for a page', async (_, body) => {
  await using script = await startScript(answer(200, body as object));
  await expect(script.client().getEvents()).rejects.toMatchObject({ code: 'unexpected_reply' });
});

test('events are yielded one by one, and each page continues after the one before', async () => {
  await using script = await startScript(pageOf(5, 6), pageOf(7), pageOf(8, 9, 10));
  expect(await take(script.client().events({ after: 4 }), 5)).toEqual([5, 6, 7, 8, 9]);
  expect(pathsOf(script)).toEqual([4, 6, 7].map((after) => `/ingest/events?after=${after}&limit=1000`));
  expect(new Set(script.arrived.map(({ headers }) => headers.prefer))).toEqual(new Set(['wait=30']));
});

test('without a cursor the first page starts at the oldest event, and the next continue, also after an empty one', async () => {
  await using script = await startScript(answer(200, { events: [], next: '70', more: false }), pageOf(71));
  expect(await take(script.client().events(), 1)).toEqual([71]);
  expect(pathsOf(script)).toEqual(['/ingest/events?limit=1000', '/ingest/events?after=70&limit=1000']);
});

test('an outage that is longer than all retries and timeouts of a call delays events, and none is missed or repeated', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  const outage = Array.from({ length: 20 }, (_, index) => (index % 2 ? hangUp : refuse(503, 'storage_unavailable')));
  await using script = await startScript(pageOf(1), ...outage, pageOf(2));
  expect(await take(script.client({ maxRetries: 0, timeoutMs: 10_000 }).events({ after: 0 }), 2)).toEqual([1, 2]);
  expect(script.arrived).toHaveLength(22);
  expect(new Set(pathsOf(script).slice(1))).toEqual(new Set(['/ingest/events?after=1&limit=1000']));
});

test('a pause that the service asks for is kept, even if it is longer than the timeout', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  using clock = stopClock();
  await using script = await startScript(refuse(429, 'rate_limited', { 'Retry-After': '1' }), pageOf(1));
  const taken = take(script.client({ timeoutMs: 500 }).events(), 1);
  await clock.untilWaits(1000);
  expect(script.arrived).toHaveLength(1);
  clock.advance(1000);
  expect(await taken).toEqual([1]);
});

test('a service that does not hold its replies is asked less and less often', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(1);
  using clock = stopClock();
  await using script = await startScript(pageOf());
  const controller = new AbortController();
  const ended = expect(take(script.client().events({ signal: controller.signal }), 1)).rejects.toBe('enough');
  for (const [index, ms] of [500, 1000, 2000, 4000, 8000, 8000].entries()) {
    await clock.untilWaits(ms);
    expect(script.arrived).toHaveLength(index + 1);
    clock.advance(ms);
  }
  controller.abort('enough');
  await ended;
});

test.each<[string, Step, new (...input: never[]) => OrdersError]>([
  ['an expired cursor', refuse(410, 'cursor_expired'), CursorExpiredError],
  ['disabled events', refuse(409, 'events_disabled'), InvalidRequestError],
  ['a page of a proxy', answer(200, {}), OrdersError],
])('%s ends the loop with an error', async (_, step, Class) => {
  await using script = await startScript(pageOf(1), step);
  const events = script.client().events({ after: 0 });
  expect(await events.next()).toMatchObject({ value: { data: { sequence: 1 } } });
  await expect(events.next()).rejects.toBeInstanceOf(Class);
  expect(script.arrived).toHaveLength(2);
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test('a 410 that is not about the cursor is not an expired cursor', async () => {
  await using script = await startScript(refuse(410, 'gone'));
  const error = await script
    .client()
    .getEvents({ after: 1 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).not.toBeInstanceOf(CursorExpiredError);
});

test('an abort ends the loop with its reason: while it waits, pauses, or yields a page', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  for (const [step, ms] of [
    [keepSilent, 60_000],
    [refuse(503, 'overloaded', { 'Retry-After': '70' }), 70_000],
  ] as const) {
    using clock = stopClock();
    const controller = new AbortController();
    const reason = new Error('enough');
    await using script = await startScript(step);
    const ended = expect(take(script.client().events({ signal: controller.signal }), 1)).rejects.toBe(reason);
    await waitFor(() => script.arrived.length === 1);
    await clock.untilWaits(ms);
    controller.abort(reason);
    await ended;
  }
  const controller = new AbortController();
  await using script = await startScript(pageOf(1, 2));
  const events = script.client().events({ signal: controller.signal });
  await events.next();
  controller.abort('enough');
  await expect(events.next()).rejects.toBe('enough');
});
