import {
  createPostgresBackend,
  Queue,
  type QueueOptions,
  runMigrations,
  UnrecoverableError,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { isRedisUrl, type RedisClient } from './open-redis.ts';
import { type Lane, outageBackoff, QUEUE_NAMES, type WakeUp, type WakeUpJob } from './wake-up.ts';

/** The concurrency of one BullMQ worker. */
interface AdaptiveConcurrency {
  /** Sets it from now on. Call it before the worker runs. */
  control(worker: Worker): void;
  /** Wraps the processing of each job. */
  run<Result>(process: () => Promise<Result>): Promise<Result>;
}

/** A job that takes longer delays no other job. */
const SLOW_JOB_MS = 25;

/**
 * The concurrency is 1 while jobs are short and come one by one, and `max` otherwise. Above 1, BullMQ asks Redis for another job after each
 * one, which takes a quarter of all CPU when every order is a job.
 */
function createAdaptiveConcurrency(max: number): AdaptiveConcurrency {
  let worker: Worker | undefined;
  let jobsSinceDrained = 0;
  let slowJobs = 0;

  /** BullMQ compares again only when a running job ends. A pause that does not wait, and a resume, make it compare now. */
  async function fetchBesideSlowJob(): Promise<void> {
    if (!worker || worker.concurrency === max) return;
    worker.concurrency = max;
    await worker.pause(true);
    await worker.resume();
  }

  return {
    control(controlled) {
      worker = controlled;
      worker.concurrency = 1;
      worker.on('drained', () => {
        jobsSinceDrained = 0;
        if (slowJobs === 0) controlled.concurrency = 1;
      });
    },
    async run(process) {
      jobsSinceDrained += 1;
      if (jobsSinceDrained > 1 && worker) worker.concurrency = max;
      let isSlow = false;
      const timer = setTimeout(() => {
        isSlow = true;
        slowJobs += 1;
        void fetchBesideSlowJob();
      }, SLOW_JOB_MS);
      try {
        return await process();
      } finally {
        clearTimeout(timer);
        if (isSlow) slowJobs -= 1;
      }
    },
  };
}

/** Creates BullMQ's schema if the queue is in Postgres; otherwise does nothing. */
export async function migrateQueue(url: string): Promise<void> {
  if (isRedisUrl(url)) return;
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await runMigrations(client);
    // BullMQ creates a queue's sequence with its first job, which the roles of the apps may not.
    for (const name of Object.values(QUEUE_NAMES)) await client.query('select bullmq.next_job_id($1)', [name]);
  } finally {
    await client.end();
  }
}

/** BullMQ has no error listener on a connection that is checked out of its pool; a lost connection would end the process. */
class ErrorTolerantClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

function postgresConnection(url: string) {
  return { connection: { connectionString: url, max: 2, connectionTimeoutMillis: 5000, Client: ErrorTolerantClient } };
}

/**
 * BullMQ's scripts use many keys of a queue, which a cluster must keep in one hash slot; the hash tag ensures that. Each lane has its own
 * tag, so lanes can be on different masters.
 */
function keyPrefix(redis: RedisClient, name: string): string {
  return redis.isCluster ? `{${name}}` : 'bull';
}

/** BullMQ's queue of a lane. The URL selects Redis or Postgres; `redis` is null for Postgres. */
export function createQueue(url: string, redis: RedisClient | null, lane: Lane): Queue<WakeUpJob> {
  const name = QUEUE_NAMES[lane];
  const queue = redis
    ? new Queue<WakeUpJob>(name, { connection: redis, prefix: keyPrefix(redis, name) } as QueueOptions)
    : new Queue(name, postgresConnection(url), createPostgresBackend);
  return queue as Queue<WakeUpJob>;
}

/** BullMQ stores an error's message and stack with the job. Postgres errors can quote an order, so this error replaces them. */
class WakeUpsFailedError extends Error {
  override readonly name = 'WakeUpsFailedError';
}

/** BullMQ's worker, not yet running. The URL selects Redis or Postgres. */
export function createBullWorker(
  url: string,
  redis: RedisClient | null,
  work: (wakeUps: WakeUp[]) => Promise<void>,
  options: { lane: Lane; concurrency: number; lockMs: number },
): Worker<WakeUpJob> {
  const name = QUEUE_NAMES[options.lane];
  const common = {
    autorun: false,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs,
    // Leases decide who may write, so stalled jobs can be retried without limit.
    maxStalledCount: 1_000_000,
    settings: { backoffStrategy: outageBackoff },
    // Delay after a connection failure. A failover takes less than BullMQ's default of 15 s.
    runRetryDelay: 1000,
  };
  const concurrency = createAdaptiveConcurrency(options.concurrency);
  const processJob = async (job: { data: WakeUpJob; attemptsStarted: number }) => {
    // A job that this service did not write must not end the process.
    if (!Array.isArray(job.data.wakeUps)) throw new UnrecoverableError('not a job of this service');
    // A probe.
    if (job.data.wakeUps.length === 0) return;
    const isFirstDelivery = job.attemptsStarted === 1;
    const wakeUps = job.data.wakeUps.map(({ newBytes, ...rest }) => ({
      ...rest,
      ...(isFirstDelivery && { newBytes }),
    }));
    await concurrency
      .run(() => work(wakeUps))
      .catch(() => {
        throw new WakeUpsFailedError('the batch failed, see the worker log');
      });
  };
  const worker = redis
    ? new Worker<WakeUpJob>(name, processJob, {
        ...common,
        connection: redis,
        prefix: keyPrefix(redis, name),
      } as WorkerOptions)
    : new Worker(name, processJob, { ...common, ...postgresConnection(url) }, createPostgresBackend);
  concurrency.control(worker as Worker);
  return worker as Worker<WakeUpJob>;
}
