import { PgBoss } from 'pg-boss';
import { logError } from '../environment.ts';
import { makePlainTables } from '../plain-tables.ts';
import { QUEUE_NAME, QUEUE_OPTIONS } from './order-queue.ts';

export async function migrate(databaseUrl: string): Promise<void> {
  await makePlainTables(databaseUrl);
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  boss.on('error', logError);
  await boss.start();
  try {
    await boss.createQueue(QUEUE_NAME, QUEUE_OPTIONS);
  } finally {
    await boss.stop();
  }
}
