import type { Queue } from 'bullmq';
import { isRedisUrl, openFailFastRedis } from './open-redis.ts';
import { openReconnectingQueue, type ReconnectingQueue } from './reconnecting-queue.ts';
import { LANES, type Lane } from './wake-up.ts';

/** Job counts of one lane. */
export interface LaneState {
  lane: Lane;
  waiting: number;
  active: number;
  /** Jobs due later: retries after an outage, and wake-ups for the next attempt of a failed receipt. */
  delayed: number;
}

/** Statistics of the queue. Each function throws when the queue is unavailable. */
export interface QueueStats {
  lanes(): Promise<LaneState[]>;
  /** BullMQ's queues, one per lane, in the order of `LANES`. Once connected, the objects stay the same. */
  queues(): Promise<Queue[]>;
  close(): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 2000;

/** @throws {Error} when the queue is unavailable. */
export async function countJobs(lane: Lane, queue: Queue): Promise<LaneState> {
  const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts;
  return { lane, waiting: waiting + prioritized, active, delayed };
}

/** Connects on first use. */
export function openQueueStats(url: string): QueueStats {
  const redis = isRedisUrl(url) ? openFailFastRedis(url, { timeoutMs: COMMAND_TIMEOUT_MS, retry: true }) : null;
  const reconnecting: ReconnectingQueue[] = LANES.map((lane) => openReconnectingQueue(url, redis, lane));
  const queues = () => Promise.all(reconnecting.map((queue) => queue.ready()));

  return {
    queues,
    async lanes() {
      return Promise.all((await queues()).map((queue, index) => countJobs(LANES[index] as Lane, queue)));
    },
    async close() {
      await Promise.all(reconnecting.map((queue) => queue.close()));
      redis?.disconnect();
    },
  };
}
