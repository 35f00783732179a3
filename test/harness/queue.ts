import { startFaultyRedis } from '@orders/test-services';
import { Redis } from 'ioredis';
import { startRedisCluster } from './redis-cluster.ts';

export type QueueKind = 'redis' | 'postgres';

/** The kinds of queue that this run tests. */
export const QUEUE_KINDS = (process.env.TEST_QUEUE_KINDS ?? 'postgres').split(',') as QueueKind[];

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
