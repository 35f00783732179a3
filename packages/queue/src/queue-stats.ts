import type { Queue } from 'bullmq';
import { isRedisUrl, openFailFastRedis } from './open-redis.ts';
import { openReconnectingQueue, type ReconnectingQueue } from './reconnecting-queue.ts';
import { LANES, type Lane } from './wake-up.ts';

/** Jobs of one lane, each of which rings for receipts. */
export interface LaneState {
  lane: Lane;
  waiting: number;
  active: number;
  /** That met an outage, and come back when it may be over. */
  delayed: number;
}

/** The queue, to look at. Each function throws when the queue does not answer. */
export interface QueueStats {
  lanes(): Promise<LaneState[]>;
  /** Worker processes that are connected to the queue now. */
  workers(): Promise<number>;
  /** BullMQ's own queues, one for each lane, for what it shows itself. The same objects until the connection had to be made anew. */
  queues(): Promise<Queue[]>;
  close(): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 2000;

/** @throws {Error} when the queue does not answer. */
export async function countJobs(lane: Lane, queue: Queue): Promise<LaneState> {
  const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts;
  return { lane, waiting: waiting + prioritized, active, delayed };
}

/** Opens a watch; it connects when it is first used. */
export function openQueueStats(url: string): QueueStats {
  const redis = isRedisUrl(url) ? openFailFastRedis(url, { timeoutMs: COMMAND_TIMEOUT_MS, retry: true }) : null;
  const reconnecting: ReconnectingQueue[] = LANES.map((lane) => openReconnectingQueue(url, redis, lane));
  const queues = () => Promise.all(reconnecting.map((one) => one.ready()));

  return {
    queues,
    async lanes() {
      return Promise.all((await queues()).map((queue, at) => countJobs(LANES[at] as Lane, queue)));
    },
    async workers() {
      // Each process answers every lane.
      return Math.max(...(await Promise.all((await queues()).map((queue) => queue.getWorkersCount()))));
    },
    async close() {
      await Promise.all(reconnecting.map((one) => one.close()));
      redis?.disconnect();
    },
  };
}
