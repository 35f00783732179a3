import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import type { Database } from './connect.ts';
import { SQLSTATE, SQLSTATE_CLASS, sqlstateOf } from './database-errors.ts';
import { NEWEST_MIGRATION } from './migrations/index.ts';
import { run } from './run.ts';

const PING = { name: 'ping', text: 'select 1' };
const PING_TIMEOUT_MS = 2000;

/** Whether Postgres responds within two seconds. */
export async function isReachable(database: Database): Promise<boolean> {
  return (await withTimeout(run(database, PING, []), PING_TIMEOUT_MS)) !== null;
}

/** `behind`: the schema lacks a migration of this version. A newer schema is `ok`. */
type SchemaState = 'ok' | 'behind' | 'missing' | 'unreachable';

const FIND_MIGRATION = { name: 'find-migration', text: 'select 1 from schema_migrations where name = $1' };
const POLL_INTERVAL_MS = 500;

/** Whether the schema fits this version; `unreachable` when Postgres does not respond within two seconds. */
export async function readSchemaState(database: Database): Promise<SchemaState> {
  return (await checkMigration(database)).state;
}

interface SchemaCheck {
  state: SchemaState;
  /** Why it is `unreachable`: a SQLSTATE or a system error code. */
  code?: string;
}

async function checkMigration(database: Database): Promise<SchemaCheck> {
  const check = run(database, FIND_MIGRATION, [NEWEST_MIGRATION]).then(
    (rows): SchemaCheck => ({ state: rows.length > 0 ? 'ok' : 'behind' }),
    (error): SchemaCheck =>
      sqlstateOf(error) === SQLSTATE.undefinedTable ? { state: 'missing' } : { state: 'unreachable', code: error.code },
  );
  return (await withTimeout(check, PING_TIMEOUT_MS)) ?? { state: 'unreachable' };
}

/** The readiness checks for Postgres and its schema, the same in every app. */
export function schemaReadiness(state: SchemaState): { postgres: string; schema?: string } {
  if (state === 'unreachable') return { postgres: 'unreachable' };
  return { postgres: 'ok', schema: state === 'ok' ? 'ok' : `${state}: run orders migrate` };
}

/** Readiness of an app that only needs Postgres: ready with an `ok` schema, until it drains. */
export async function checkSchema(database: Database, isDraining: () => boolean) {
  const state = await readSchemaState(database);
  const draining = isDraining();
  return { ready: state === 'ok' && !draining, ...schemaReadiness(state), draining };
}

/**
 * Waits for Postgres and an `ok` schema.
 *
 * @param warn is called with the cause of the wait, and again when the cause changes.
 * @returns true when ready; false when `signal` was aborted.
 */
export async function untilSchema(
  database: Database,
  signal: AbortSignal,
  warn: (message: string, fields: object) => void,
): Promise<boolean> {
  for (let lastCause = ''; !signal.aborted; ) {
    const { state, code } = await checkMigration(database);
    if (state === 'ok') return !signal.aborted;
    const what = state === 'unreachable' ? whyUnreachable(code) : 'this version waits for its schema';
    const cause = `${state} ${code}`;
    if (cause !== lastCause) warn(`not ready: ${what}`, { ...schemaReadiness(state), ...(code && { code }) });
    lastCause = cause;
    await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => {});
  }
  return false;
}

function whyUnreachable(code: string | undefined): string {
  return code?.startsWith(SQLSTATE_CLASS.invalidAuthorization)
    ? 'Postgres rejects this role or its password'
    : 'Postgres unavailable';
}
