import { APP_ROLES, grantAppRoles } from '@orders/cli/grant-roles.ts';
import type { Knex } from 'knex';

/** An app with its own role. */
export type RoleOf = 'intake' | 'worker' | 'portal' | 'notifier';

const PASSWORD = 'test-role';

/** Applies `deploy/postgres/roles.sql` to a database of a server that this run started, and gives the roles a password. */
export async function createAppRoles(knex: Knex): Promise<void> {
  await grantAppRoles(knex);
  // By Postgres itself, with the `scram_iterations` of the server.
  for (const role of APP_ROLES) await knex.raw(`alter role ${role} password '${PASSWORD}'`);
}

/** The database URL with the role of an app. */
export function asRole(url: string, app: RoleOf): string {
  return Object.assign(new URL(url), { username: `orders_${app}`, password: PASSWORD }).href;
}

/** The roles' lines in PgBouncer's user list. */
export const POOLER_USERS = APP_ROLES.map((role) => `"${role}" "${PASSWORD}"\n`).join('');
