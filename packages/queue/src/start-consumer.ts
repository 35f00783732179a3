import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import type { Worker } from 'bullmq';
import { createBullWorker } from './bullmq.ts';
import { isRedisUrl, openBlockingRedis } from './open-redis.ts';
import type { Lane, WakeUp, WakeUpJob } from './wake-up.ts';

/** The worker's side of the queue. */
export interface Consumer {
  /** Whether Redis is connected; a queue on Postgres counts as connected. */
  isConnected(): boolean;
  /** Takes no new jobs and waits for those in progress. */
  close(): Promise<void>;
}

export interface ConsumerOptions {
  url: string;
  lane: Lane;
  /** Max concurrent jobs. */
  concurrency: number;
  /** BullMQ's job lock in milliseconds: a job whose worker does not renew it is given to another worker. */
  lockMs: number;
  /** Max time for `close` to finish jobs and disconnect, in milliseconds. */
  graceMs: number;
  onError: (error: unknown) => void;
}

/**
 * Processes the jobs of one lane until closed. `work` is called with the wake-ups of each job; if it throws, the job is retried later.
 * While the queue is unavailable, it keeps trying to connect.
 */
export function startConsumer(work: (wakeUps: WakeUp[]) => Promise<void>, options: ConsumerOptions): Consumer {
  const { url, lane, concurrency, lockMs, graceMs, onError } = options;
  const redis = isRedisUrl(url) ? openBlockingRedis(url) : null;
  const closing = new AbortController();
  let worker: Worker<WakeUpJob> | null = null;

  // A BullMQ worker whose first connection failed, or whose loop ended, never recovers, so a new one is created.
  async function keepConsuming(): Promise<void> {
    while (!closing.signal.aborted) {
      worker = createBullWorker(url, redis, work, { lane, concurrency, lockMs });
      worker.on('error', onError);
      try {
        await worker.waitUntilReady();
        await worker.run();
      } catch (error) {
        if (closing.signal.aborted) return;
        onError(error);
        // Wait before closing: close() removes the error listeners of the connection, and a late error event would then end the process.
        await sleep(1000, null, { signal: closing.signal }).catch(() => {});
        await worker.close(true).catch(onError);
      }
    }
  }
  void keepConsuming();

  return {
    isConnected: () => redis === null || redis.status === 'ready',
    async close() {
      closing.abort();
      if (redis && redis.status !== 'ready') {
        // A graceful close never ends without Redis. Leases cover the receipts in progress.
        redis.disconnect();
        await worker?.close(true).catch(() => {});
        return;
      }
      if (worker) await withTimeout(worker.close().catch(onError), graceMs);
      redis?.disconnect();
    },
  };
}
