import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Knex } from 'knex';
import { untilGranted } from './migrate.ts';
import { scramVerifier } from './scram-verifier.ts';

/** The roles of `deploy/postgres/roles.sql`. */
export const APP_ROLES = ['orders_intake', 'orders_worker', 'orders_portal'] as const;
export type AppRole = (typeof APP_ROLES)[number];

const FILE = resolve(import.meta.dirname, '../../../deploy/postgres/roles.sql');

/** Whether the apps have roles of their own in this database. */
export async function hasAppRoles(knex: Knex): Promise<boolean> {
  const { rows } = await knex.raw(
    `select coalesce(bool_or(has_table_privilege(oid, 'schema_migrations', 'select')), false) as granted
     from pg_roles where rolname = ?`,
    [APP_ROLES[0]],
  );
  return rows[0].granted;
}

/**
 * Creates the roles that are missing and grants each what its app needs, by `deploy/postgres/roles.sql`. Safe to repeat.
 *
 * @throws {pg.DatabaseError} 42501 where this role may not, 55P03 when a lock was not available for five minutes.
 */
export async function grantAppRoles(knex: Knex): Promise<void> {
  const file = await readFile(FILE, 'utf8');
  // Each block by itself, as one of them commits, which it cannot in a transaction of several statements.
  for (const block of file.split(/(?<=^\$\$;$)/m)) if (block.includes('$$')) await untilGranted(() => knex.raw(block));
}

/** Sets the password by which an app signs in as its role. */
export async function setRolePassword(knex: Knex, role: AppRole, password: string): Promise<void> {
  // A role has no parameters; a verifier is base64 and punctuation without a quote.
  await knex.raw(`alter role ${role} password '${scramVerifier(password)}'`);
}
