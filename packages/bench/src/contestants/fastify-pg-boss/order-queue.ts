import type { Queue } from 'pg-boss';

export const QUEUE_NAME = 'orders';

/** The order itself is in the receipt: pg-boss writes a job's row three times, so a small one is the faster. */
export interface OrderJob {
  receiptId: string;
}

export const QUEUE_OPTIONS: Omit<Queue, 'name'> = {
  retryLimit: 5,
  retryBackoff: true,
  // A table of its own, as the documentation advises for a large queue.
  partition: true,
  // A transaction that notifies holds one lock of the whole server while it commits: half as many orders a second.
  notify: false,
};
