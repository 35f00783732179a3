import { afterEach, expect, jest, test } from '@jest/globals';
import { NotFoundError, TimeoutError } from '../src/index.ts';
import { type Arrived, answer, hangUp, KEY, keepSilent, RECEIPT_ID, refuse, startScript } from './scripted-server.ts';

const receipt = (status: string) => answer(200, { receipt_id: RECEIPT_ID, status });
const preferences = ({ arrived }: { arrived: Arrived[] }) => arrived.map(({ headers }) => headers.prefer);

afterEach(() => {
  jest.restoreAllMocks();
});

test('a receipt is asked for once, and waited for if that is wanted', async () => {
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
  'waiting ends when the receipt is "%s", through an outage of any length',
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

test('it is not asked without pause where the service does not hold its reply', async () => {
  await using script = await startScript(receipt('received'));
  const error = await script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 3000 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ code: 'timed_out', receipt: { status: 'received' } });
  expect(error.message).toMatch(/^Still "received" after \d+ ms\.$/);
  expect(script.arrived.length).toBeLessThan(40);
  expect(preferences(script)[0]).toBe('wait=2');
});

test('when the time is up in an outage, the error has what was seen last, and why', async () => {
  await using script = await startScript(receipt('received'), keepSilent);
  const error = await script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 1500 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ receipt: { status: 'received' }, cause: { name: 'TimeoutError' } });
  expect(error.requestId).toBeDefined();
});

test('a service that is away for longer than there is time: the error says so, and how long was waited', async () => {
  await using script = await startScript(refuse(503, 'overloaded', { 'Retry-After': '3600' }));
  const error = await script
    .client()
    .waitForReceipt(RECEIPT_ID, { timeoutMs: 3_000_000 })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error.message).toMatch(
    /^Not known to be final after \d{1,5} ms: the service asks to come back in 3600 s, and the whole time is 3000000 ms\.$/,
  );
  expect(error).toMatchObject({ cause: { retryAfterSeconds: 3600 } });
});

test('a receipt that is not there is not waited for', async () => {
  await using script = await startScript(refuse(404, 'receipt_not_found'));
  await expect(script.client().waitForReceipt(RECEIPT_ID)).rejects.toThrow(NotFoundError);
  expect(script.arrived).toHaveLength(1);
});

test('an abort ends the waiting, with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  await using script = await startScript(() => controller.abort(reason));
  await expect(script.client().waitForReceipt(RECEIPT_ID, { signal: controller.signal })).rejects.toBe(reason);
});
