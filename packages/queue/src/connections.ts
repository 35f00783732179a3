import { createPostgresBackend, Queue, type QueueOptions, runMigrations, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type Lane, outageBackoff, QUEUE_NAMES, type Ring, type RingJob } from './ring.ts';

const KEEP_ALIVE_MS = 10_000;

/** Whether a queue address means Redis (or Valkey); otherwise it is BullMQ's Postgres backend. */
export function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url);
}

/**
 * A Redis connection that fails fast: nothing is queued up while Redis is away. When a command is not answered in `timeoutMs` milliseconds,
 * all that wait fail, and the connection is given up and made anew; until Redis answers on the new one, every command fails at once.
 */
export function openFailFastRedis(url: string, timeoutMs: number): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    keepAlive: KEEP_ALIVE_MS,
    connectTimeout: 5000,
    disconnectTimeout: 200,
    retryStrategy: (times) => Math.min(times * 100, 1000),
  });
  redis.on('error', () => {});
  return redis;
}

/** A Redis connection for blocking reads: it waits for Redis as long as it takes. */
export function openPatientRedis(url: string): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    // Longer than BullMQ's longest blocking read, 10 s. Without it a Redis whose host is gone would be waited for as long as TCP does.
    socketTimeout: 30_000,
    keepAlive: KEEP_ALIVE_MS,
    disconnectTimeout: 200,
    retryStrategy: (times) => Math.min(times * 100, 1000),
  });
  redis.on('error', () => {});
  return redis;
}

/** Makes BullMQ's schema where the queue lives in Postgres; elsewhere there is nothing to do. */
export async function migrateQueue(url: string): Promise<void> {
  if (isRedisUrl(url)) return;
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await runMigrations(client);
  } finally {
    await client.end();
  }
}

/** BullMQ does not listen to a connection while it has it out of its pool; the end of one would then be the end of the process. */
class HeardClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

function postgresConnection(url: string) {
  return { connection: { connectionString: url, max: 4, connectionTimeoutMillis: 5000, Client: HeardClient } };
}

/** BullMQ's queue of a lane on whichever store the address names; `redis` is used for the one kind and ignored for the other. */
export function createQueue(url: string, redis: Redis | null, lane: Lane): Queue<RingJob> {
  const name = QUEUE_NAMES[lane];
  const queue = redis
    ? new Queue<RingJob>(name, { connection: redis } as QueueOptions)
    : new Queue(name, postgresConnection(url), createPostgresBackend);
  return queue as Queue<RingJob>;
}

/** BullMQ keeps the message and the stack of an error with the job, and those of Postgres can quote an order; so it gets this one instead. */
class RingsUnansweredError extends Error {
  override readonly name = 'RingsUnansweredError';
}

/** BullMQ's worker, not yet running, on whichever store the address names. */
export function createWorker(
  url: string,
  redis: Redis | null,
  work: (rings: Ring[]) => Promise<void>,
  options: { lane: Lane; concurrency: number; lockMs: number },
): Worker<RingJob> {
  const name = QUEUE_NAMES[options.lane];
  const common = {
    autorun: false,
    concurrency: options.concurrency,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs,
    // Leases decide who may write, so a stalled job may come back as often as it likes.
    maxStalledCount: 1_000_000,
    settings: { backoffStrategy: outageBackoff },
  };
  const process = (job: { data: RingJob }) =>
    work(job.data.rings).catch(() => {
      throw new RingsUnansweredError('these rings met an outage, which the worker has logged');
    });
  const worker = redis
    ? new Worker<RingJob>(name, process, { ...common, connection: redis } as WorkerOptions)
    : new Worker(name, process, { ...common, ...postgresConnection(url) }, createPostgresBackend);
  return worker as Worker<RingJob>;
}
