import { migrate } from '@orders/database';
import type { Command } from 'commander';
import { json } from '../arguments.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

type QueueOutcome = 'migrated' | 'not_needed' | 'not_configured';

const QUEUE_LINES: Record<QueueOutcome, string> = {
  migrated: "The queue's tables are up to date.",
  not_needed: 'The queue is on Redis and needs no tables.',
  not_configured: 'QUEUE_URL is not set, so no queue was looked at.',
};

/** `orders migrate`. */
export function addMigrateCommand(program: Command, context: Context): void {
  program
    .command('migrate')
    .description('bring the schema up to date, and the queue where it is on Postgres; safe to repeat')
    .addOption(json())
    .action(async (options) => {
      const { QUEUE_URL } = await context.config();
      const migrations = await context.withDatabase(migrate);
      const queue = await prepareQueue(QUEUE_URL);
      context.print(options, { migrations, queue }, () => {
        const ran = migrations.length > 0 ? `Migrations run: ${migrations.join(', ')}.` : 'The schema was up to date.';
        return `${ran}\n${QUEUE_LINES[queue]}`;
      });
    });
}

async function prepareQueue(url: string | undefined): Promise<QueueOutcome> {
  if (!url) return 'not_configured';
  // Loaded here because BullMQ takes longer to load than most commands to run.
  const { isRedisUrl, migrateQueue } = await import('@orders/queue');
  if (isRedisUrl(url)) return 'not_needed';
  try {
    await migrateQueue(url);
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw new Failure(`The queue of QUEUE_URL could not be prepared (${code ?? 'no answer'}): check the address.`);
  }
  return 'migrated';
}
