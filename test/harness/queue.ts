import { describe, test } from '@jest/globals';
import { openQueueStats } from '@orders/queue/queue-stats.ts';
import { LANES } from '@orders/queue/wake-up.ts';
import { startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { Redis } from 'ioredis';
import { skipped } from './programs.ts';
import { startRedisCluster } from './redis-cluster.ts';

export type QueueKind = 'redis' | 'postgres';

/** The kinds of queue that this run tests. */
export const QUEUE_KINDS = (process.env.TEST_QUEUE_KINDS ?? 'postgres').split(',') as QueueKind[];

/** The kind for tests in which the queue has no part of its own: `redis`, where the machine has one. */
export const QUEUE_KIND = QUEUE_KINDS[0] as QueueKind;

/** `describe` on each kind of queue, which is `%s` in the name. Where there is no Redis, the tests on it are skipped. */
export const describeQueues = (name: string, tests: (kind: QueueKind) => void) => eachQueue(describe, name, tests);

/** Like `describeQueues`, for a single test. */
export const testQueues = (name: string, run: (kind: QueueKind) => Promise<void>) => eachQueue(test, name, run);

function eachQueue(block: typeof describe | typeof test, name: string, run: (kind: QueueKind) => unknown): void {
  for (const kind of ['redis', 'postgres'] as const) {
    const define = QUEUE_KINDS.includes(kind) ? block : skipped(block, ['redis-server']);
    (define as typeof test)(name.replace('%s', kind), () => run(kind) as Promise<void>);
  }
}

export interface TestQueue {
  url: string;
  close(): Promise<void>;
}

/** Starts a queue for one test file; with TEST_REDIS=cluster the kind `redis` is a Redis Cluster. */
export async function startQueue(kind: QueueKind, databaseUrl: string): Promise<TestQueue> {
  if (kind === 'postgres') return { url: databaseUrl, close: async () => {} };
  if (process.env.TEST_REDIS === 'cluster') return startRedisCluster({ replicas: 0 });
  const { TEST_REDIS_URL: shared } = process.env;
  return shared ? takeDatabase(shared) : startFaultyRedis();
}

/** Takes one of the numbered databases of a Redis that all test files share; a counter in the first database assigns them. */
async function takeDatabase(shared: string): Promise<TestQueue> {
  const redis = new Redis(shared);
  const url = `${shared}/${await redis.incr('databases')}`;
  await redis.quit();
  return { url, close: async () => {} };
}

/** The payloads of the waiting jobs in the prompt lane, oldest first. */
export async function listJobs(url: string): Promise<{ wakeUps: unknown[] }[]> {
  const watch = openQueueStats(url);
  const queues = await watch.queues();
  const jobs = (await queues[LANES.indexOf('prompt')]?.getJobs(['waiting'], 0, -1, true)) ?? [];
  await watch.close();
  return jobs.map((job) => job.data);
}
