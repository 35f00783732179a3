import { once } from 'node:events';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { type Queue, SchemaMigrationRequiredError } from 'bullmq';
import { isRedisUrl, openFailFastRedis } from './open-redis.ts';
import { countJobs, type LaneState } from './queue-stats.ts';
import { openReconnectingQueue } from './reconnecting-queue.ts';
import { JOB_NAME, JOB_OPTIONS, LANES, type Lane, type WakeUp, type WakeUpJob } from './wake-up.ts';

/** Collects wake-ups into jobs. */
interface JobCoalescer {
  add(wakeUp: WakeUp): void;
  /** Sends all pending wake-ups now. */
  flush(): void;
}

/**
 * The first wake-up is sent immediately; those of each period after it share jobs. One job per order would cost more than all other work
 * for that order. After a period with few receipts the next one is shorter, as waiting would cost more than it saves.
 */
const COALESCE_MS = 10;
const COALESCE_FEW_MS = 3;
const FEW_RECEIPTS = 3;
/** Max receipts per job, unless a single wake-up has more. */
const MAX_RECEIPTS = 300;

/** @param send is called with the wake-ups of one job. */
function coalesceJobs(send: (wakeUps: WakeUp[]) => void): JobCoalescer {
  let pending: WakeUp[] = [];
  let isCoalescing = false;

  function flush(): void {
    for (const wakeUps of chunkBySize(pending, ({ receiptIds }) => receiptIds.length, { size: MAX_RECEIPTS })) {
      send(wakeUps);
    }
    pending = [];
  }

  function flushPeriodically(): void {
    const count = pending.reduce((sum, { receiptIds }) => sum + receiptIds.length, 0);
    isCoalescing = pending.length > 0;
    if (!isCoalescing) return;
    flush();
    setTimeout(flushPeriodically, count > FEW_RECEIPTS ? COALESCE_MS : COALESCE_FEW_MS);
  }

  return {
    add(wakeUp) {
      pending.push(wakeUp);
      if (!isCoalescing) flushPeriodically();
    },
    flush,
  };
}

/** The producer's side of the queue. */
export interface Producer {
  /** Sends a wake-up in the background. It never fails: the sweeper finds the receipts of a lost one. */
  wakeUp(lane: Lane, wakeUp: WakeUp): void;
  /** Like `wakeUp`, with some as one job, in `delayMs` milliseconds. */
  wakeUpLater(lane: Lane, wakeUps: WakeUp[], delayMs: number): void;
  /**
   * Number of jobs that wait in a lane.
   *
   * @throws {Error} when the lane is unavailable; in a cluster each lane can be on a different master.
   */
  depth(lane: Lane): Promise<number>;
  /**
   * Adds a job without receipts to each lane, unless its last one still waits: it shows that jobs can be added, and not only counted.
   *
   * @throws {QueueNotPreparedError} if the queue's tables on Postgres are missing, or not granted to this role.
   * @throws {Error} when the queue is unavailable.
   */
  probe(): Promise<void>;
  /**
   * Job counts of each lane.
   *
   * @throws {Error} when the queue is unavailable.
   */
  lanes(): Promise<LaneState[]>;
  /** Sends pending wake-ups, waits up to one second for jobs in flight, and disconnects. */
  close(): Promise<void>;
}

export interface ProducerOptions {
  url: string;
  /** Called for each job that was not delivered, and for each one that was. */
  onLost?: (error: unknown) => void;
  onDelivered?: () => void;
}

const COMMAND_TIMEOUT_MS = 2000;
/** Max jobs being sent. A job beyond this is dropped and counted as lost; the sweeper finds its receipts. */
const MAX_JOBS_IN_FLIGHT = 1000;

/** `orders migrate` must prepare the queue on Postgres. */
export class QueueNotPreparedError extends Error {
  override readonly name = 'QueueNotPreparedError';
}

/** SQLSTATEs of a schema, table or function that is missing, or that the role may not use. */
const NOT_PREPARED = new Set(['3F000', '42P01', '42883', '42501']);

function isNotPrepared(error: unknown): boolean {
  return error instanceof SchemaMigrationRequiredError || NOT_PREPARED.has((error as { code?: string }).code ?? '');
}

class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** Opens a producer. It connects and reconnects by itself. */
export function openProducer(options: ProducerOptions): Producer {
  const { url, onLost = () => {}, onDelivered = () => {} } = options;
  const redis = isRedisUrl(url) ? openFailFastRedis(url, { timeoutMs: COMMAND_TIMEOUT_MS, retry: true }) : null;
  // Wake-ups wait for the first connection. After that, they fail immediately while the connection is lost.
  const firstConnection = redis && withTimeout(once(redis, 'ready'), COMMAND_TIMEOUT_MS);
  const inFlight = new Set<Promise<void>>();
  const queues = forEachLane((lane) => openReconnectingQueue(url, redis, lane));
  const coalescers = forEachLane((lane) => coalesceJobs((wakeUps) => send(lane, wakeUps)));

  /** @throws {Error} when the lane is unavailable. */
  async function readyQueue(lane: Lane): Promise<Queue<WakeUpJob>> {
    await firstConnection;
    if (redis && redis.status !== 'ready') throw new QueueUnavailableError('Redis is not connected');
    return queues[lane].ready();
  }

  async function addJob(lane: Lane, wakeUps: WakeUp[], delayMs: number): Promise<void> {
    if (inFlight.size >= MAX_JOBS_IN_FLIGHT) throw new QueueUnavailableError('too many jobs in flight');
    const queue = await readyQueue(lane);
    const options = delayMs > 0 ? { ...JOB_OPTIONS, delay: Math.ceil(delayMs) } : JOB_OPTIONS;
    await queue.add(JOB_NAME, { wakeUps }, options);
  }

  function send(lane: Lane, wakeUps: WakeUp[], delayMs = 0): void {
    const sending = addJob(lane, wakeUps, delayMs)
      .then(onDelivered, onLost)
      .finally(() => inFlight.delete(sending));
    inFlight.add(sending);
  }

  return {
    wakeUp(lane, wakeUp) {
      coalescers[lane].add(wakeUp);
    },
    wakeUpLater(lane, wakeUps, delayMs) {
      send(lane, wakeUps, delayMs);
    },
    async depth(lane) {
      return (await countJobs(lane, await readyQueue(lane))).waiting;
    },
    async probe() {
      const add = async (lane: Lane) => {
        const queue = await readyQueue(lane);
        await queue.add(JOB_NAME, { wakeUps: [] }, { ...JOB_OPTIONS, deduplication: { id: 'probe' } });
      };
      await Promise.all(LANES.map(add)).catch((error) => {
        throw isNotPrepared(error) ? new QueueNotPreparedError("the queue's tables are not prepared") : error;
      });
    },
    lanes() {
      return Promise.all(LANES.map(async (lane) => countJobs(lane, await readyQueue(lane))));
    },
    async close() {
      for (const lane of LANES) coalescers[lane].flush();
      await withTimeout(Promise.all(inFlight), 1000);
      await Promise.all(LANES.map((lane) => queues[lane].close()));
      redis?.disconnect();
    },
  };
}

function forEachLane<T>(make: (lane: Lane) => T): Record<Lane, T> {
  return { prompt: make('prompt'), bulk: make('bulk') };
}
