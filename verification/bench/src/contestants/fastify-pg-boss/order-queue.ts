import { PgBoss, type Queue } from 'pg-boss';
import { logError } from '../environment.ts';

export const QUEUE_NAME = 'orders';

/** The order is stored in the receipt, because pg-boss writes the row of a job three times and a small row is faster. */
export interface OrderJob {
  receiptId: string;
}

const QUEUE_OPTIONS: Omit<Queue, 'name'> = {
  retryLimit: 5,
  retryBackoff: true,
  // A separate table, as the documentation advises for a large queue.
  partition: true,
  // A transaction that notifies holds a server-wide lock while it commits, which halves the orders per second.
  notify: false,
};

export async function createOrderQueue(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  boss.on('error', logError);
  await boss.start();
  try {
    await boss.createQueue(QUEUE_NAME, QUEUE_OPTIONS);
  } finally {
    await boss.stop();
  }
}
