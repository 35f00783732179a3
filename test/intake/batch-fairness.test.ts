import { afterEach, expect, jest, test } from '@jest/globals';
import { useStack } from '../harness/use-stack.ts';

/** Nearly the maximum length, and slow to parse: 87,000 empty objects. */
const LONG = Array(87_000).fill('{}').join();

const { stack } = useStack();

afterEach(() => {
  jest.restoreAllMocks();
});

/** Opens an intake without other requests, to which batches are sent under one idempotency key. */
async function openIntake({ key }: { key: string }) {
  const { url } = (await stack.intake()).api;
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/x-ndjson',
    'Idempotency-Key': 'again',
  };
  /** Sends orders that contain the value. @returns how many are kept, as they differ from their originals. */
  return async (count: number, value: string) => {
    const body = Array.from({ length: count }, (_, n) => `{"source_order_id":"${n}","x":${value}}\n`).join('');
    const reply = await fetch(`${url}/ingest/orders/batch`, { method: 'POST', headers, body });
    return ((await reply.json()) as { mismatched: number }).mismatched;
  };
}

test('reading a batch and comparing it with its originals let the event loop turn whenever a time slice is over', async () => {
  const send = await openIntake(await stack.account());
  await send(200, '1');
  const turns = jest.spyOn(globalThis, 'setImmediate');
  const readTime = jest.spyOn(performance, 'now');
  // With a clock that runs this fast, a time slice is over after each order.
  let time = performance.now();
  readTime.mockImplementation(() => (time += 5));
  expect(await send(200, '2')).toBe(200);
  // Each order is read and fingerprinted, and so is its original.
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(3 * 200);
});

test('very long originals are compared with short orders in the parsing thread', async () => {
  const account = await stack.account();
  await (await openIntake(account))(5, `[${LONG}]`);
  const send = await openIntake(account);
  let threads = 0;
  const count = () => (threads += 1);
  process.on('worker', count);
  expect(await send(5, '1')).toBe(5);
  process.off('worker', count);
  // The intake has read no long body before, so its thread starts for the originals.
  expect(threads).toBe(1);
});
