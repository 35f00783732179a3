import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import { createWorker } from './connections.ts';
import { isRedisUrl, openBlockingRedis } from './open-redis.ts';
import type { Lane, WakeUp, WakeUpJob } from './wake-up.ts';

/** The worker's side of the queue. */
export interface Consumer {
  /** Takes no new job and waits until those under way are done. */
  close(): Promise<void>;
}

export interface ConsumerOptions {
  url: string;
  lane: Lane;
  /** Jobs taken at once. */
  concurrency: number;
  /** After this long, in milliseconds, a job whose worker fell silent is handed to another. */
  lockMs: number;
  /** How long jobs under way, and the queue's own goodbyes, may take when closing, in milliseconds. */
  graceMs: number;
  onError: (error: unknown) => void;
}

/**
 * Answers the rings of one lane until closed: `work` is called for each job of them, and one for which it throws comes back later. Starts when the queue can be
 * reached, however long that takes.
 */
export function startConsumer(work: (wakeUps: WakeUp[]) => Promise<void>, options: ConsumerOptions): Consumer {
  const { url, lane, concurrency, lockMs, graceMs, onError } = options;
  const redis = isRedisUrl(url) ? openBlockingRedis(url) : null;
  const closing = new AbortController();
  let worker: Worker<WakeUpJob> | null = null;

  // A worker whose first contact failed, or whose loop ended, never recovers; it is made anew.
  async function keepConsuming(): Promise<void> {
    while (!closing.signal.aborted) {
      worker = createWorker(url, redis, work, { lane, concurrency, lockMs });
      worker.on('error', onError);
      try {
        await worker.waitUntilReady();
        await worker.run();
      } catch (error) {
        if (closing.signal.aborted) return;
        onError(error);
        // First, that is: closing takes its listeners off the connection it listens on, and the news that Postgres is gone, if that is
        // still to come there, would then end the process.
        await sleep(1000, null, { signal: closing.signal }).catch(() => {});
        await worker.close(true).catch(onError);
      }
    }
  }
  void keepConsuming();

  return {
    async close() {
      closing.abort();
      if (redis && redis.status !== 'ready') {
        // Without Redis no graceful close comes to an end; the leases see to what was under way.
        redis.disconnect();
        await worker?.close(true).catch(() => {});
        return;
      }
      await Promise.race([worker?.close(), sleep(graceMs, null, { ref: false })]);
      redis?.disconnect();
    },
  };
}
