import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { retryUntilLocked } from '@orders/database/migrate.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';

// Postgres' default.
const ITERATIONS = 4096;

/**
 * The SCRAM verifier that Postgres stores (RFC 5803), so that the password is in no statement and no server log.
 *
 * @param password visible ASCII, which needs no normalization.
 */
function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}

/** The roles of `deploy/postgres/roles.sql`. */
export const APP_ROLES = ['orders_intake', 'orders_worker', 'orders_portal', 'orders_notifier'] as const;
export type AppRole = (typeof APP_ROLES)[number];

const FILE = resolve(import.meta.dirname, '../../../deploy/postgres/roles.sql');

/** Whether the apps' roles exist and are granted in this database. */
export async function hasAppRoles(connection: Connection): Promise<boolean> {
  const [row] = await run<{ granted: boolean }>(
    connection,
    `select coalesce(bool_or(has_table_privilege(oid, 'schema_migrations', 'select')), false) as granted
     from pg_roles where rolname = $1`,
    [APP_ROLES[0]],
  );
  return row?.granted === true;
}

/**
 * Creates missing roles and grants each the privileges of its app, by `deploy/postgres/roles.sql`. Idempotent.
 *
 * @throws {pg.DatabaseError} 42501 when this role lacks the privilege, 55P03 when a lock was not available for five minutes.
 */
export async function grantAppRoles(connection: Connection): Promise<void> {
  const file = await readFile(FILE, 'utf8');
  // One block per query: one of them commits, which is not possible in a multi-statement query.
  for (const block of file.split(/(?<=^\$\$;$)/m))
    if (block.includes('$$')) await retryUntilLocked(() => execute(connection, block));
}

/** Sets the password of an app's role. */
export async function setRolePassword(connection: Connection, role: AppRole, password: string): Promise<void> {
  // `alter role` takes no parameters. The verifier is base64 and punctuation without quotes.
  await execute(connection, `alter role ${role} password '${scramVerifier(password)}'`);
}
