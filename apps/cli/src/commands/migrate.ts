import type { Database } from '@orders/database/connect.ts';
import { readInstallation } from '@orders/database/installation.ts';
import {
  type MigrationPlan,
  migrate as migrateSchema,
  planMigrations,
  SchemaDriftError,
} from '@orders/database/migrate.ts';
import type { Connection } from '@orders/database/run.ts';
import { type CommandSpec, option } from '../command.ts';
import type { CliConfig } from '../config.ts';
import { Failure, UsageError } from '../errors.ts';
import { grantAppRoles, hasAppRoles, setRolePassword } from '../grant-roles.ts';

const QUEUE_LINES = {
  migrated: "The queue's tables are up to date.",
  not_needed: 'The queue is on Redis and needs no tables.',
  not_configured: 'QUEUE_URL is not set, so no queue was prepared.',
};

const ROLE_LINES = {
  granted: "The apps' roles have their privileges.",
  none: 'The apps have no roles of their own in this database.',
};

export const migrate: CommandSpec = {
  about: 'bring the schema up to date, the queue where it is on Postgres, and the roles of the apps; safe to repeat',
  options: [
    option('--plan', 'print which migrations would run, and which ran with different SQL; change nothing'),
    option('--accept-drift <migration>', 'record the SQL of this version as what ran; may be repeated')
      .argParser((name: string, names: string[] | undefined) => [...(names ?? []), name])
      .conflicts('plan'),
  ],
  async run({ config, withDatabase }, { plan, acceptDrift = [] }: { plan?: boolean; acceptDrift?: string[] }) {
    if (plan) {
      const planned = await withDatabase(planMigrations);
      return [planned, describePlan(planned)];
    }
    const settings = await config();
    const migrations = await withDatabase((database) => runMigrations(database, acceptDrift, settings));
    const queue = await prepareQueue(settings.QUEUE_URL);
    // Last, as the roles may need privileges on the queue's tables.
    const roles = await withDatabase((database) => prepareRoles(database, settings));
    const ran = migrations.length > 0 ? `Migrations run: ${migrations.join(', ')}.` : 'The schema was up to date.';
    return [{ migrations, queue, roles }, `${ran}\n${QUEUE_LINES[queue]}\n${ROLE_LINES[roles]}`];
  },
};

async function runMigrations(
  database: Database,
  acceptDrift: readonly string[],
  { INSTALLATION_NUMBER, PARTITION_WIDTH }: CliConfig,
): Promise<string[]> {
  if (acceptDrift.length > 0) {
    const { drift } = await planMigrations(database);
    if (!acceptDrift.every((name) => drift.includes(name)))
      throw new UsageError(
        '--accept-drift takes a migration that ran with different SQL, as orders migrate --plan lists it.',
      );
  }
  try {
    const options = { acceptDrift, installation: INSTALLATION_NUMBER, partitionWidth: PARTITION_WIDTH };
    const ran = await migrateSchema(database, options);
    await requireInstallation(database, INSTALLATION_NUMBER);
    return ran;
  } catch (error) {
    if (!(error instanceof SchemaDriftError)) throw error;
    const names = error.migrations.join(', ');
    const accept = error.migrations.map((name) => `--accept-drift ${name}`).join(' ');
    throw new Failure(
      `Nothing was run: ${names} ran here with different SQL than this version has. Compare the schema with a fresh one ` +
        `(docs/operating/upgrade.md, "Schema drift"), then: orders migrate ${accept}`,
    );
  }
}

async function requireInstallation(database: Connection, number: number | undefined): Promise<void> {
  const stored = await readInstallation(database);
  if (number !== undefined && number !== stored)
    throw new Failure(
      `This is the database of installation ${stored}, which stays: set INSTALLATION_NUMBER to it, or leave it out.`,
    );
}

/** The plan in plain text. */
export function describePlan({ pending, drift, unknown }: MigrationPlan): string {
  const run = pending.map(({ name, transaction }) => `  ${name} (${transaction ? '' : 'not '}in a transaction)`);
  return [
    ...(run.length > 0 ? ['Migrations that would run, in this order:', ...run] : ['No migration would run.']),
    ...(drift.length > 0
      ? [`Ran with different SQL than this version has, so orders migrate runs nothing: ${drift.join(', ')}.`]
      : []),
    ...(unknown.length > 0 ? [`Of a later version, left as they are: ${unknown.join(', ')}.`] : []),
  ].join('\n');
}

async function prepareQueue(url: string | undefined): Promise<keyof typeof QUEUE_LINES> {
  if (!url) return 'not_configured';
  // Loaded on demand: BullMQ takes longer to load than most commands to run.
  const { isRedisUrl } = await import('@orders/queue/open-redis.ts');
  const { migrateQueue } = await import('@orders/queue/bullmq.ts');
  if (isRedisUrl(url)) return 'not_needed';
  try {
    await migrateQueue(url);
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw new Failure(`The queue of QUEUE_URL could not be prepared (${code ?? 'timeout'}): check the address.`);
  }
  return 'migrated';
}

/** Grants existing roles their privileges, and creates the roles if a password is given. */
async function prepareRoles(database: Connection, config: CliConfig): Promise<keyof typeof ROLE_LINES> {
  const passwords = [
    ['orders_intake', config.INTAKE_DB_PASSWORD],
    ['orders_worker', config.WORKER_DB_PASSWORD],
    ['orders_portal', config.PORTAL_DB_PASSWORD],
    ['orders_notifier', config.NOTIFIER_DB_PASSWORD],
  ] as const;
  if (passwords.every(([, password]) => password === undefined) && !(await hasAppRoles(database))) return 'none';
  await grantAppRoles(database);
  for (const [role, password] of passwords) if (password !== undefined) await setRolePassword(database, role, password);
  return 'granted';
}
