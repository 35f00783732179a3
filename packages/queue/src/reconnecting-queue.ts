import type { Queue } from 'bullmq';
import { createQueue } from './bullmq.ts';
import type { RedisClient } from './open-redis.ts';
import type { Lane, WakeUpJob } from './wake-up.ts';

/** The queue of one lane. */
export interface ReconnectingQueue {
  /** @throws {Error} when the connection fails; the next call retries. */
  ready(): Promise<Queue<WakeUpJob>>;
  close(): Promise<void>;
}

/** Connects on first use. A BullMQ queue whose first connection failed never recovers, so each retry creates a new one. */
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
