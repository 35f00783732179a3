import { expect, test } from '@jest/globals';
import type { Database } from '@orders/database';
import type { Producer } from '@orders/queue';
import type { Logger } from '@orders/runtime';
import type { WorkerMetrics } from '../src/metrics.ts';
import { sweep } from '../src/sweep.ts';

test.each<[string, () => Promise<number>, boolean]>([
  ['short', async () => 0, true],
  ['long', async () => 100, false],
  ['unavailable', () => Promise.reject(new Error('refused')), false],
])('while the queue is %s, a sweep reports whether it asked Postgres', async (_, depth, hasAsked) => {
  let queries = 0;
  const query = async () => {
    queries += 1;
    return { rows: [] };
  };
  const returned = await sweep({
    database: { pool: { query }, prepared: false } as unknown as Database,
    producer: { depth, wakeUp: () => {} } as unknown as Producer,
    queueOutage: { failed: () => {}, recovered: () => {} },
    leaseMs: 1000,
    metrics: { swept: { inc: () => {} } } as unknown as WorkerMetrics,
    logger: { isDebugEnabled: () => false } as Logger,
  });
  expect([returned, queries]).toEqual([hasAsked, hasAsked ? 1 : 0]);
});
