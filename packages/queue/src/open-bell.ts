import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { createQueue, isRedisUrl, openFailFastRedis } from './connections.ts';
import { JOB_NAME, RING_OPTIONS, type Ring, type RingJob } from './ring.ts';

/** The producer's side of the queue. */
export interface Bell {
  /**
   * Rings without making anybody wait and without ever failing: a ring that does not arrive is made up for by the sweeper.
   *
   * @param delayMs when the receipts are due, from now, in milliseconds.
   */
  ring(ring: Ring, delayMs?: number): void;
  /**
   * Jobs waiting to be taken.
   *
   * @throws {Error} when the queue does not answer.
   */
  depth(): Promise<number>;
  /** Sends what waits, waits for rings under way, a second at most, and disconnects. */
  close(): Promise<void>;
}

export interface BellOptions {
  url: string;
  /** Told of every job that was not delivered, with why, and of every one that was. */
  onLost?: (error: unknown) => void;
  onDelivered?: () => void;
}

const COMMAND_TIMEOUT_MS = 2000;
/** Jobs that may be under way at once; more are left to the sweeper. */
const MAX_UNSENT = 1000;
/** A ring that comes alone goes at once; those of the so many milliseconds after it share a job, since a job costs more than its receipts. */
const REST_MS = 10;
/** Receipts that one job rings for, at most, unless they are of one ring. */
const MAX_RECEIPTS = 300;

/** The queue cannot be rung now; the sweeper will. */
class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** Opens the bell. It connects by itself and again whenever the connection is lost. */
export function openBell(options: BellOptions): Bell {
  const { url, onLost = () => {}, onDelivered = () => {} } = options;
  const redis = isRedisUrl(url) ? openFailFastRedis(url, COMMAND_TIMEOUT_MS) : null;
  // Rings in the first moment wait for the connection to be made; later ones do not wait for one that is lost.
  const firstContact = redis
    ? Promise.race([once(redis, 'ready').catch(() => {}), sleep(COMMAND_TIMEOUT_MS, null, { ref: false })])
    : null;
  const unsent = new Set<Promise<void>>();
  let opened: Promise<Queue<RingJob>> | null = null;

  // A queue whose first contact failed never recovers, so it is made anew at the next ring.
  async function connect(): Promise<Queue<RingJob>> {
    const queue = createQueue(url, redis);
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

  async function ready(): Promise<Queue<RingJob>> {
    await firstContact;
    if (redis && redis.status !== 'ready') throw new QueueUnavailableError('Redis is not connected');
    opened ??= connect();
    return opened;
  }

  async function send(rings: Ring[], delayMs: number): Promise<void> {
    try {
      if (unsent.size >= MAX_UNSENT) throw new QueueUnavailableError('too many jobs under way');
      const queue = await ready();
      await queue.add(JOB_NAME, { rings }, delayMs > 0 ? { ...RING_OPTIONS, delay: Math.ceil(delayMs) } : RING_OPTIONS);
      onDelivered();
    } catch (error) {
      onLost(error);
    }
  }

  function deliver(rings: Ring[], delayMs = 0): void {
    const sending = send(rings, delayMs).finally(() => unsent.delete(sending));
    unsent.add(sending);
  }

  let gathered: Ring[] = [];
  let resting = false;

  function deliverGathered(): void {
    for (const rings of inJobs(gathered)) deliver(rings);
    gathered = [];
  }

  function ringAndRest(): void {
    resting = gathered.length > 0;
    if (!resting) return;
    deliverGathered();
    setTimeout(ringAndRest, REST_MS);
  }

  return {
    ring(ring, delayMs = 0) {
      if (delayMs > 0) return deliver([ring], delayMs);
      gathered.push(ring);
      if (!resting) ringAndRest();
    },
    async depth() {
      const counts = await (await ready()).getJobCounts('waiting', 'active', 'prioritized');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async close() {
      deliverGathered();
      await Promise.race([Promise.all(unsent), sleep(1000, null, { ref: false })]);
      await (await opened?.catch(() => null))?.close().catch(() => {});
      redis?.disconnect();
    },
  };
}

/** Shares rings out among jobs, in their order. */
function inJobs(rings: readonly Ring[]): Ring[][] {
  const jobs: Ring[][] = [];
  let room = 0;
  for (const ring of rings) {
    if (ring.receiptIds.length > room) {
      jobs.push([]);
      room = MAX_RECEIPTS;
    }
    jobs.at(-1)?.push(ring);
    room -= ring.receiptIds.length;
  }
  return jobs;
}
