import { backoff } from '@orders/runtime/concurrency/timers.ts';
import type { JobsOptions } from 'bullmq';

/** Tells workers that receipts of one batch wait. It contains ids and a length only. One job carries one or more wake-ups. */
export interface WakeUp {
  /** The batch's outbox row. */
  batchId: string;
  receiptIds: string[];
  /** Set by intake for new receipts: the length of their bodies. `createBullWorker` removes it when a job is delivered again. */
  newBytes?: number | undefined;
  /** How often in a row its receipts were put off, as others locked what they need. */
  postponements?: number;
  /** By receipt id, the `traceparent` of its request (W3C Trace Context, 55 characters); only for traced receipts. */
  traces?: Record<string, string>;
}

/** Payload of the only job type. */
export interface WakeUpJob {
  wakeUps: WakeUp[];
}

/**
 * Workers process the lanes independently, so a backlog in one does not delay the other. `prompt` is for accounts within their fair share;
 * `bulk` is for accounts above it and further attempts.
 */
export const LANES = ['prompt', 'bulk'] as const;
export type Lane = (typeof LANES)[number];

export const QUEUE_NAMES: Record<Lane, string> = { prompt: 'receipts', bulk: 'receipts-bulk' };
export const JOB_NAME = 'wake-up';

/** Every worker must map this name to `outageBackoff`. */
const OUTAGE_BACKOFF = 'outage';

/**
 * A wake-up fails only in an outage. It is retried for some minutes; after that the sweeper finds its receipts. Finished jobs are removed, as
 * the receipts store the outcome.
 */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 60,
  backoff: { type: OUTAGE_BACKOFF },
  removeOnComplete: true,
  removeOnFail: true,
};

/** Milliseconds until a wake-up that failed in an outage is retried. */
export function outageBackoff(attemptsMade: number): number {
  return backoff(attemptsMade, { base: 250, cap: 5000 });
}
