import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { coalesceJobs } from './coalesce-jobs.ts';
import { isRedisUrl, openFailFastRedis } from './open-redis.ts';
import { countJobs, type LaneState } from './queue-stats.ts';
import { openReconnectingQueue } from './reconnecting-queue.ts';
import { JOB_NAME, JOB_OPTIONS, LANES, type Lane, type WakeUp, type WakeUpJob } from './wake-up.ts';

/** The producer's side of the queue. */
export interface Producer {
  /**
   * Rings without making anybody wait and without ever failing: a ring that does not arrive is made up for by the sweeper.
   *
   * @param delayMs when the receipts are due, from now, in milliseconds.
   */
  wakeUp(lane: Lane, wakeUp: WakeUp, delayMs?: number): void;
  /**
   * Jobs of a lane waiting to be taken.
   *
   * @throws {Error} when the lane does not answer; in a cluster each may be on a master of its own.
   */
  depth(lane: Lane): Promise<number>;
  /**
   * The jobs of each lane.
   *
   * @throws {Error} when the queue does not answer.
   */
  lanes(): Promise<LaneState[]>;
  /** Sends what waits, waits for jobs under way, a second at most, and disconnects. */
  close(): Promise<void>;
}

export interface ProducerOptions {
  url: string;
  /** Told of every job that was not delivered, with why, and of every one that was. */
  onLost?: (error: unknown) => void;
  onDelivered?: () => void;
}

const COMMAND_TIMEOUT_MS = 2000;
/** Jobs that may be under way at once; more are left to the sweeper. */
const MAX_UNSENT = 1000;

/** The queue cannot be rung now; the sweeper will. */
class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** Opens the bell. It connects by itself and again whenever the connection is lost. */
export function openProducer(options: ProducerOptions): Producer {
  const { url, onLost = () => {}, onDelivered = () => {} } = options;
  const redis = isRedisUrl(url) ? openFailFastRedis(url, { timeoutMs: COMMAND_TIMEOUT_MS, retry: true }) : null;
  // Rings in the first moment wait for the connection to be made; later ones do not wait for one that is lost.
  const firstContact = redis
    ? Promise.race([once(redis, 'ready').catch(() => {}), sleep(COMMAND_TIMEOUT_MS, null, { ref: false })])
    : null;
  const unsent = new Set<Promise<void>>();
  const queues = forEachLane((lane) => openReconnectingQueue(url, redis, lane));
  const jobs = forEachLane((lane) => coalesceJobs((wakeUps) => deliver(lane, wakeUps)));

  async function ready(lane: Lane): Promise<Queue<WakeUpJob>> {
    await firstContact;
    if (redis && redis.status !== 'ready') throw new QueueUnavailableError('Redis is not connected');
    return queues[lane].ready();
  }

  async function send(lane: Lane, wakeUps: WakeUp[], delayMs: number): Promise<void> {
    try {
      if (unsent.size >= MAX_UNSENT) throw new QueueUnavailableError('too many jobs under way');
      const queue = await ready(lane);
      await queue.add(JOB_NAME, { wakeUps }, delayMs > 0 ? { ...JOB_OPTIONS, delay: Math.ceil(delayMs) } : JOB_OPTIONS);
      onDelivered();
    } catch (error) {
      onLost(error);
    }
  }

  function deliver(lane: Lane, wakeUps: WakeUp[], delayMs = 0): void {
    const sending = send(lane, wakeUps, delayMs).finally(() => unsent.delete(sending));
    unsent.add(sending);
  }

  return {
    wakeUp(lane, wakeUp, delayMs = 0) {
      if (delayMs > 0) deliver(lane, [wakeUp], delayMs);
      else jobs[lane].wakeUp(wakeUp);
    },
    async depth(lane) {
      return (await countJobs(lane, await ready(lane))).waiting;
    },
    lanes() {
      return Promise.all(LANES.map(async (lane) => countJobs(lane, await ready(lane))));
    },
    async close() {
      for (const lane of LANES) jobs[lane].flush();
      await Promise.race([Promise.all(unsent), sleep(1000, null, { ref: false })]);
      await Promise.all(LANES.map((lane) => queues[lane].close()));
      redis?.disconnect();
    },
  };
}

function forEachLane<T>(make: (lane: Lane) => T): Record<Lane, T> {
  return { prompt: make('prompt'), bulk: make('bulk') };
}
