import { grantAppRoles, hasAppRoles, migrate, setRolePassword } from '@orders/database';
import type { Command } from 'commander';
import { json } from '../arguments.ts';
import type { CliConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Knex } from '../with-database.ts';

type QueueOutcome = 'migrated' | 'not_needed' | 'not_configured';

const QUEUE_LINES: Record<QueueOutcome, string> = {
  migrated: "The queue's tables are up to date.",
  not_needed: 'The queue is on Redis and needs no tables.',
  not_configured: 'QUEUE_URL is not set, so no queue was looked at.',
};

type RolesOutcome = 'granted' | 'none';

const ROLE_LINES: Record<RolesOutcome, string> = {
  granted: 'The roles of the apps have what they need.',
  none: 'The apps have no roles of their own here.',
};

/** `orders migrate`. */
export function addMigrateCommand(program: Command, context: Context): void {
  program
    .command('migrate')
    .description(
      'bring the schema up to date, the queue where it is on Postgres, and the roles of the apps; safe to repeat',
    )
    .addOption(json())
    .action(async (options) => {
      const config = await context.config();
      const migrations = await context.withDatabase(migrate);
      const queue = await prepareQueue(config.QUEUE_URL);
      // Last, as the tables of the queue may be part of it.
      const roles = await context.withDatabase((knex) => prepareRoles(knex, config));
      context.print(options, { migrations, queue, roles }, () => {
        const ran = migrations.length > 0 ? `Migrations run: ${migrations.join(', ')}.` : 'The schema was up to date.';
        return `${ran}\n${QUEUE_LINES[queue]}\n${ROLE_LINES[roles]}`;
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

/** The roles are granted what they need where they have been before, and created where a password for one is given. */
async function prepareRoles(knex: Knex, config: CliConfig): Promise<RolesOutcome> {
  const passwords = [
    ['orders_intake', config.INTAKE_DB_PASSWORD],
    ['orders_worker', config.WORKER_DB_PASSWORD],
    ['orders_portal', config.PORTAL_DB_PASSWORD],
  ] as const;
  if (passwords.every(([, password]) => password === undefined) && !(await hasAppRoles(knex))) return 'none';
  await grantAppRoles(knex);
  for (const [role, password] of passwords) if (password !== undefined) await setRolePassword(knex, role, password);
  return 'granted';
}
