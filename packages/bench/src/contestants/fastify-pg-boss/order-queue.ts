import type { Queue } from 'pg-boss';

export const QUEUE_NAME = 'orders';

/** The order itself is in the receipt: pg-boss writes a job's row three times, and the smaller it is the faster. */
export interface OrderJob {
  receiptId: string;
}

export const QUEUE_OPTIONS: Omit<Queue, 'name'> = { retryLimit: 5, retryBackoff: true, notify: process.env.TRY_NOTIFY === '1', partition: process.env.TRY_PARTITION === '1' };
