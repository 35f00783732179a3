import { createPostgresBackend, Queue, type QueueOptions, runMigrations, Worker, type WorkerOptions } from 'bullmq';
import pg from 'pg';
import { isRedisUrl, type RedisClient } from './open-redis.ts';
import { type Lane, outageBackoff, QUEUE_NAMES, type WakeUp, type WakeUpJob } from './wake-up.ts';

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
class ErrorTolerantClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

function postgresConnection(url: string) {
  return { connection: { connectionString: url, max: 4, connectionTimeoutMillis: 5000, Client: ErrorTolerantClient } };
}

/**
 * BullMQ's scripts touch many keys of a queue at once, and in a cluster these must lie in one slot: the hash tag decides which. With a tag
 * of its own each lane may lie on another master.
 */
function prefixOf(redis: RedisClient, name: string): string {
  return redis.isCluster ? `{${name}}` : 'bull';
}

/** BullMQ's queue of a lane on whichever store the address names; `redis` is used for the one kind and ignored for the other. */
export function createQueue(url: string, redis: RedisClient | null, lane: Lane): Queue<WakeUpJob> {
  const name = QUEUE_NAMES[lane];
  const queue = redis
    ? new Queue<WakeUpJob>(name, { connection: redis, prefix: prefixOf(redis, name) } as QueueOptions)
    : new Queue(name, postgresConnection(url), createPostgresBackend);
  return queue as Queue<WakeUpJob>;
}

/** BullMQ keeps the message and the stack of an error with the job, and those of Postgres can quote an order; so it gets this one instead. */
class WakeUpsFailedError extends Error {
  override readonly name = 'RingsUnansweredError';
}

/** BullMQ's worker, not yet running, on whichever store the address names. */
export function createWorker(
  url: string,
  redis: RedisClient | null,
  work: (wakeUps: WakeUp[]) => Promise<void>,
  options: { lane: Lane; concurrency: number; lockMs: number },
): Worker<WakeUpJob> {
  const name = QUEUE_NAMES[options.lane];
  const common = {
    autorun: false,
    concurrency: options.concurrency,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs,
    // Leases decide who may write, so a stalled job may come back as often as it likes.
    maxStalledCount: 1_000_000,
    settings: { backoffStrategy: outageBackoff },
    // After the connection failed; a failover is over in less than BullMQ's own 15 s.
    runRetryDelay: 1000,
  };
  const process = (job: { data: WakeUpJob }) =>
    work(job.data.wakeUps).catch(() => {
      throw new WakeUpsFailedError('these rings met an outage, which the worker has logged');
    });
  const worker = redis
    ? new Worker<WakeUpJob>(name, process, {
        ...common,
        connection: redis,
        prefix: prefixOf(redis, name),
      } as WorkerOptions)
    : new Worker(name, process, { ...common, ...postgresConnection(url) }, createPostgresBackend);
  return worker as Worker<WakeUpJob>;
}
