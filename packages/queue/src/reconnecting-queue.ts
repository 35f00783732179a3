import type { Queue } from 'bullmq';
import { createQueue } from './connections.ts';
import type { RedisClient } from './open-redis.ts';
import type { Lane, WakeUpJob } from './wake-up.ts';

/** The queue of one lane for as long as a bell is open. */
export interface ReconnectingQueue {
  /** @throws {Error} when it cannot be reached; the next call tries anew. */
  ready(): Promise<Queue<WakeUpJob>>;
  close(): Promise<void>;
}

/** Opens a lane's queue when it is first asked for, and anew if that failed: a BullMQ queue whose first contact failed never recovers. */
export function openReconnectingQueue(url: string, redis: RedisClient | null, lane: Lane): ReconnectingQueue {
  let opened: Promise<Queue<WakeUpJob>> | null = null;

  async function connect(): Promise<Queue<WakeUpJob>> {
    const queue = createQueue(url, redis, lane);
    queue.on('error', () => {});
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      opened = null;
      await queue.close().catch(() => {});
      throw error;
    }
  }

  return {
    ready() {
      opened ??= connect();
      return opened;
    },
    async close() {
      await (await opened?.catch(() => null))?.close().catch(() => {});
    },
  };
}
