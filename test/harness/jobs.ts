import { createPostgresBackend, Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** The data of every job that waits in the queue, oldest first. */
export async function listJobs(url: string): Promise<unknown[]> {
  if (url.startsWith('postgres')) {
    const queue = new Queue('receipts', { connection: url }, createPostgresBackend);
    const jobs = await queue.getJobs(['waiting'], 0, -1, true);
    await queue.close();
    return jobs.map((job) => job.data);
  }
  const connection = new Redis(url, { maxRetriesPerRequest: null, disconnectTimeout: 200 });
  const queue = new Queue('receipts', { connection });
  const jobs = await queue.getJobs(['waiting'], 0, -1, true);
  await queue.close();
  connection.disconnect();
  return jobs.map((job) => job.data);
}
