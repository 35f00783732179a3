import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from '@jest/globals';
import { withStack } from '../harness/stack.ts';

/** Nearly the maximum length, and slow to parse: 87,000 empty objects. */
const LONG = Array(87_000).fill('{}').join();
const COUNT = 30;

test('comparing short orders with very long originals does not block the event loop', async () => {
  await withStack('postgres', async (stack) => {
    const { url } = (await stack.intake()).api;
    const { key } = await stack.account();
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/x-ndjson',
      'Idempotency-Key': 'again',
    };
    const send = async (rest: string) => {
      const body = Array.from({ length: COUNT }, (_, n) => `{"source_order_id":"${n}","x":[${rest}]}\n`).join('');
      const reply = await fetch(`${url}/ingest/orders/batch`, { method: 'POST', headers, body });
      return ((await reply.json()) as { results: { payload_mismatch?: true }[] }).results;
    };
    await send(LONG);
    const shares: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const startedAt = performance.now();
      const results = await send('');
      shares.push(delay.max / 1e6 / (performance.now() - startedAt));
      delay.disable();
      expect(results.filter((one) => one.payload_mismatch)).toHaveLength(COUNT);
    }
    // Without time slices the longest delay is more than half of the round. Other load can slow single rounds.
    expect(Math.min(...shares)).toBeLessThan(0.3);
  });
});
