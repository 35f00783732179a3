import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { isStorageUnavailable, SQLSTATE, sqlstateOf } from '@orders/database/database-errors.ts';
import { execute } from '@orders/database/run.ts';
import { ConfigurationError } from '@orders/runtime/config/environment.ts';
import type { CliConfig } from './config.ts';
import { Failure, MOVING } from './errors.ts';

/** Max connections: `orders migrate` holds its lock with one of them. */
const POOL_SIZE = 4;

// What to do if Postgres rejects the connection.
const ADVICE: Record<string, string> = {
  [SQLSTATE.invalidAuthorization]: 'it rejects this role; correct its address',
  [SQLSTATE.invalidPassword]: 'it rejects this role or password; correct its address',
  [SQLSTATE.undefinedDatabase]: 'it has no such database; create it, or correct its address',
  [SQLSTATE.tooManyConnections]: 'it has no connection left; try again later',
  [SQLSTATE.cannotConnectNow]: 'it is starting up; try again in a moment',
};

// The schema is missing or older than this program.
const NO_SCHEMA = new Set<string>([
  SQLSTATE.invalidSchemaName,
  SQLSTATE.undefinedTable,
  SQLSTATE.undefinedColumn,
  SQLSTATE.undefinedFunction,
]);

/**
 * Connects, runs `work`, and always closes the connections.
 *
 * @param variable that has the address.
 * @throws {Failure} with one line about the database's error, without its message: that may contain data.
 */
export async function withDatabase<Result>(
  config: CliConfig,
  work: (database: Database) => Promise<Result>,
  variable: 'DATABASE_URL' | 'TARGET_DATABASE_URL' = 'DATABASE_URL',
): Promise<Result> {
  const url = config[variable];
  if (!url) throw new ConfigurationError(`Configuration: set ${variable}.`);
  const database = openDatabase({
    url,
    poolSize: POOL_SIZE,
    prepared: false,
    applicationName: 'orders cli',
  });
  try {
    // So that errors of the connection are told apart from those of statements.
    await execute(database, 'select 1').catch((error: unknown) =>
      Promise.reject(connectFailure(error, config, variable)),
    );
    return await work(database);
  } catch (error) {
    throw statementFailure(error);
  } finally {
    await closeDatabase(database);
  }
}

function connectFailure(error: unknown, { isLocal }: CliConfig, variable: string): Failure {
  const code = codeOf(error);
  if (isLocal && variable === 'DATABASE_URL')
    return new Failure(`The database of npm start is unreachable (${code}): run npm start.`);
  const advice = ADVICE[code] ?? 'check that it runs and that the address is right';
  return new Failure(`No connection to the Postgres of ${variable} (${code}): ${advice}.`);
}

/** What `reject_row_of_moved_account` says. */
const REJECTED_MOVED = 'this account is moved to another installation';

function statementFailure(error: unknown): unknown {
  const sqlstate = sqlstateOf(error);
  if (sqlstate && NO_SCHEMA.has(sqlstate))
    return new Failure(`The schema is missing or out of date (${sqlstate}): run orders migrate.`);
  if (sqlstate === SQLSTATE.insufficientPrivilege)
    return new Failure('The role of DATABASE_URL lacks a privilege (42501): grant it.');
  if (error instanceof Error && error.message === REJECTED_MOVED) return new Failure(MOVING);
  if (sqlstate === SQLSTATE.lockNotAvailable)
    return new Failure('Another session holds a lock that this needs (55P03): see pg_locks, then try again.');
  if (isStorageUnavailable(error))
    return new Failure(`Postgres failed during the command (${codeOf(error)}): check it, then try again.`);
  return error;
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'no answer in time';
}
