import { openQueueStats } from '@orders/queue/queue-stats.ts';
import { LANES } from '@orders/queue/wake-up.ts';

/** The payloads of the waiting jobs in the prompt lane, oldest first. */
export async function listJobs(url: string): Promise<{ wakeUps: unknown[] }[]> {
  const watch = openQueueStats(url);
  const queues = await watch.queues();
  const jobs = (await queues[LANES.indexOf('prompt')]?.getJobs(['waiting'], 0, -1, true)) ?? [];
  await watch.close();
  return jobs.map((job) => job.data);
}
