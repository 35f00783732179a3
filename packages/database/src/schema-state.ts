import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, run } from './connect.ts';
import { sqlstateOf } from './database-errors.ts';
import { NEWEST_MIGRATION } from './migrate.ts';

/** `behind` is a schema that lacks a migration of this version; one that has more than this version knows is `ok`. */
type SchemaState = 'ok' | 'behind' | 'missing' | 'unreachable';

const ASK = { name: 'schema_state', text: 'select 1 from schema_migrations where name = $1' };
const UNDEFINED_TABLE = '42P01';
const PATIENCE_MS = 2000;
const LOOK_AGAIN_MS = 500;

/** How the schema stands to this version; `unreachable` when Postgres has not answered within two seconds. */
export async function readSchemaState(database: Database): Promise<SchemaState> {
  return (await askSchema(database)).state;
}

/** `code` is why it is `unreachable`: a SQLSTATE, or a code of the system. */
async function askSchema(database: Database): Promise<{ state: SchemaState; code?: string }> {
  const late = Promise.withResolvers<{ state: SchemaState }>();
  const timer = setTimeout(() => late.resolve({ state: 'unreachable' }), PATIENCE_MS);
  const answer = run(database, ASK, [NEWEST_MIGRATION]).then(
    (rows) => ({ state: rows.length > 0 ? ('ok' as const) : ('behind' as const) }),
    (error) =>
      sqlstateOf(error) === UNDEFINED_TABLE
        ? { state: 'missing' as const }
        : { state: 'unreachable' as const, code: error.code },
  );
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}

/** What readiness says of it, the same in every app. */
export function schemaReadiness(state: SchemaState): { postgres: string; schema?: string } {
  if (state === 'unreachable') return { postgres: 'unreachable' };
  return { postgres: 'ok', schema: state === 'ok' ? 'ok' : `${state}: run orders migrate` };
}

/**
 * Waits for Postgres and a schema that is `ok`.
 *
 * @param warn is told what is waited for, again when that changes.
 * @returns whether it is there; false when `signal` fired.
 */
export async function untilSchema(
  database: Database,
  signal: AbortSignal,
  warn: (message: string, facts: object) => void,
): Promise<boolean> {
  for (let told: SchemaState = 'ok'; !signal.aborted; ) {
    const { state, code } = await askSchema(database);
    if (state === 'ok') return !signal.aborted;
    const what = state === 'unreachable' ? 'Postgres does not answer' : 'this version waits for its schema';
    if (state !== told) warn(`not ready: ${what}`, { ...schemaReadiness(state), ...(code && { code }) });
    told = state;
    await sleep(LOOK_AGAIN_MS, null, { signal }).catch(() => {});
  }
  return false;
}
