import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer, type LocalRedis, startRedis, startRedisContainer } from '@orders/local-services';

export type QueueKind = 'redis' | 'postgres';

/** The kinds of queue that this run can have. */
export const QUEUE_KINDS = (process.env.TEST_QUEUE_KINDS ?? 'postgres').split(',') as QueueKind[];

export interface TestQueue {
  url: string;
  close(): Promise<void>;
}

/** A queue of a test file's own. */
export async function startQueue(kind: QueueKind, databaseUrl: string): Promise<TestQueue> {
  if (kind === 'postgres') return { url: databaseUrl, close: async () => {} };
  if (findRedisServer()) return startFaultyRedis();
  const container = await startRedisContainer();
  return { url: container.url, close: container.stop };
}

/** A Redis that a test can stop, start empty on the same port, freeze and thaw. */
export interface FaultyRedis extends TestQueue {
  /** Where it keeps its data, each start in a directory of its own below this one. */
  directory: string;
  stop(): Promise<void>;
  startEmpty(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export const canBreakRedis = findRedisServer() !== null;

export async function startFaultyRedis(): Promise<FaultyRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-redis-'));
  let starts = 0;
  const start = (port?: number): Promise<LocalRedis> => {
    starts += 1;
    return startRedis({ directory: join(directory, String(starts)), ...(port && { port }) });
  };
  let redis = await start();
  return {
    url: redis.url,
    directory,
    stop: () => redis.child.stop('SIGKILL'),
    startEmpty: async () => {
      redis = await start(redis.port);
    },
    freeze: () => void process.kill(redis.child.pid, 'SIGSTOP'),
    thaw: () => void process.kill(redis.child.pid, 'SIGCONT'),
    close: async () => {
      await redis.child.stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
