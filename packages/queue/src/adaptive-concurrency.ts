import type { Worker } from 'bullmq';

/** The concurrency of one BullMQ worker. */
export interface AdaptiveConcurrency {
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
export function createAdaptiveConcurrency(max: number): AdaptiveConcurrency {
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
