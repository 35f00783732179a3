import type { JobsOptions } from 'bullmq';
import { backoff } from './backoff.ts';

/** Says that receipts of one batch wait; it carries ids and nothing else: of receipts, their batch and their traces. */
export interface WakeUp {
  /** The outbox row that promises this ring. */
  batchId: string;
  receiptIds: string[];
  /** Where receipts are traced: the `traceparent` of their request (W3C Trace Context, 55 characters), by their ids. */
  traces?: Record<string, string>;
}

/** The one kind of job there is. */
export interface WakeUpJob {
  wakeUps: WakeUp[];
}

/**
 * The ways to the workers, which answer each by itself: what piles up in the one holds up nothing in the other. `prompt` is for accounts
 * within their fair share; `bulk` for what may wait, because its account sends more or because it has waited before.
 */
export const LANES = ['prompt', 'bulk'] as const;
export type Lane = (typeof LANES)[number];

export const QUEUE_NAMES: Record<Lane, string> = { prompt: 'receipts', bulk: 'receipts-bulk' };
export const JOB_NAME = 'wake-up';

/** Name of the backoff below, which every worker must know. */
const OUTAGE_BACKOFF = 'outage';

/**
 * A ring that fails met an outage and is tried again for some minutes; after that the sweeper rings anew. Nothing is kept of finished
 * jobs: the receipts say what became of them.
 */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 60,
  backoff: { type: OUTAGE_BACKOFF },
  removeOnComplete: true,
  removeOnFail: true,
};

/** Milliseconds until a ring that met an outage is tried again. */
export function outageBackoff(attemptsMade: number): number {
  return backoff(attemptsMade, { base: 250, cap: 5000 });
}
