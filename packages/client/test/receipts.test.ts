import { afterEach, expect, jest, test } from '@jest/globals';
import { NotFoundError, TimeoutError } from '../src/index.ts';
import { type Arrived, answer, hangUp, KEY, RECEIPT_ID, refuse, startScript, stopClock } from './scripted-server.ts';

const receipt = (status: string) => answer(200, { receipt_id: RECEIPT_ID, status });
const preferences = ({ arrived }: { arrived: Arrived[] }) => arrived.map(({ headers }) => headers.prefer);

afterEach(() => {
  jest.restoreAllMocks();
});

test('a receipt is requested once, with a wait if the caller asks for one', async () => {
  await using script = await startScript(receipt('received'));
  const client = script.client();
  expect(await client.getReceipt(RECEIPT_ID)).toEqual({ receipt_id: RECEIPT_ID, status: 'received' });
  await client.getReceipt(RECEIPT_ID, { wait: 10 });
  expect(preferences(script)).toEqual([undefined, 'wait=10']);
  expect(script.arrived[0]).toMatchObject({ method: 'GET', path: `/ingest/status/${RECEIPT_ID}` });
  expect(script.arrived[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  expect(script.arrived[0]?.headers).not.toHaveProperty('idempotency-key');
});

test.each(['written', 'duplicate', 'dead'])(
  'waiting ends when the receipt is "%s", also after a long outage',
  async (final) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const outage = [
      hangUp,
      refuse(503, 'storage_unavailable'),
      hangUp,
      hangUp,
      refuse(502, 'x'),
      hangUp,
      hangUp,
      hangUp,
    ];
    await using script = await startScript(receipt('received'), ...outage, receipt('failed'), receipt(final));
    expect(await script.client().waitForReceipt(RECEIPT_ID)).toMatchObject({ status: final });
    expect(script.arrived).toHaveLength(11);
    expect(preferences(script)[0]).toBe('wait=30');
  },
);

test('polling pauses if the service does not hold its reply', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(1);
  using clock = stopClock();
  await using script = await startScript(receipt('received'));
  const ended = script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 3000 })
    .catch((thrown) => thrown);
  for (const ms of [500, 1000]) {
    await clock.untilWaits(ms);
    clock.advance(ms);
  }
  const error = await ended;
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ code: 'timed_out', receipt: { status: 'received' } });
  // The next pause would be 2 s.
  expect(error.message).toBe('Still "received" after 1500 ms.');
  expect(preferences(script)).toEqual(['wait=2', 'wait=2', 'wait=1']);
});

test('a timeout in an outage reports the last known receipt and the cause', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  using clock = stopClock();
  await using script = await startScript(receipt('received'), () => clock.advance(1500));
  const error = await script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 1500 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ receipt: { status: 'received' }, cause: { name: 'TimeoutError' } });
  expect(error.requestId).toBeDefined();
});

test('a wait ends early if the service asks for a longer pause than the timeout, and the error says so', async () => {
  await using script = await startScript(refuse(503, 'overloaded', { 'Retry-After': '3600' }));
  const error = await script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 3_000_000 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error.message).toMatch(
    /^Not known to be final after \d{1,5} ms: the service asks for a retry after 3600 s, and the timeout is 3000000 ms\.$/,
  );
  expect(error).toMatchObject({ cause: { retryAfterSeconds: 3600 } });
});

test('waiting for an unknown receipt fails at once', async () => {
  await using script = await startScript(refuse(404, 'receipt_not_found'));
  await expect(script.client().waitForReceipt(RECEIPT_ID)).rejects.toThrow(NotFoundError);
  expect(script.arrived).toHaveLength(1);
});

test('an abort ends the wait with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  await using script = await startScript(() => controller.abort(reason));
  await expect(script.client().waitForReceipt(RECEIPT_ID, { signal: controller.signal })).rejects.toBe(reason);
});
