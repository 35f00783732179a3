import { findRedisServer, startFaultyRedis, startRedisContainer } from '@orders/local-services';
import { startRedisCluster } from './redis-cluster.ts';

export type QueueKind = 'redis' | 'postgres';

/** The kinds of queue that this run can have. */
export const QUEUE_KINDS = (process.env.TEST_QUEUE_KINDS ?? 'postgres').split(',') as QueueKind[];

export interface TestQueue {
  url: string;
  close(): Promise<void>;
}

/** A queue of a test file's own; with TEST_REDIS=cluster the kind `redis` is a Redis Cluster. */
export async function startQueue(kind: QueueKind, databaseUrl: string): Promise<TestQueue> {
  if (kind === 'postgres') return { url: databaseUrl, close: async () => {} };
  if (process.env.TEST_REDIS === 'cluster') return startRedisCluster({ replicas: 0 });
  if (process.env.TEST_CONTAINERS !== 'on' && findRedisServer()) return startFaultyRedis();
  const container = await startRedisContainer();
  return { url: container.url, close: container.stop };
}

export const canBreakRedis = findRedisServer() !== null;
