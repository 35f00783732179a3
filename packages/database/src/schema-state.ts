import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, run, withTimeoutOr } from './connect.ts';
import { sqlstateOf } from './database-errors.ts';
import { NEWEST_MIGRATION } from './migrations/index.ts';

/** `behind` is a schema that lacks a migration of this version; one that has more than this version knows is `ok`. */
type SchemaState = 'ok' | 'behind' | 'missing' | 'unreachable';

const ASK = { name: 'schema_state', text: 'select 1 from schema_migrations where name = $1' };
const UNDEFINED_TABLE = '42P01';
const POLL_INTERVAL_MS = 500;

/** How the schema stands to this version; `unreachable` when Postgres has not answered within two seconds. */
export async function readSchemaState(database: Database): Promise<SchemaState> {
  return (await askSchema(database)).state;
}

interface Answer {
  state: SchemaState;
  /** Why it is `unreachable`: a SQLSTATE, or a code of the system. */
  code?: string;
}

function askSchema(database: Database): Promise<Answer> {
  const answer = run(database, ASK, [NEWEST_MIGRATION]).then(
    (rows): Answer => ({ state: rows.length > 0 ? 'ok' : 'behind' }),
    (error): Answer =>
      sqlstateOf(error) === UNDEFINED_TABLE ? { state: 'missing' } : { state: 'unreachable', code: error.code },
  );
  return withTimeoutOr(answer, { state: 'unreachable' });
}

/** What readiness says of it, the same in every app. */
export function schemaReadiness(state: SchemaState): { postgres: string; schema?: string } {
  if (state === 'unreachable') return { postgres: 'unreachable' };
  return { postgres: 'ok', schema: state === 'ok' ? 'ok' : `${state}: run orders migrate` };
}

/** Readiness of an app that needs nothing but Postgres: with a schema that is `ok`, until it drains. */
export async function checkSchema(database: Database, isDraining: () => boolean) {
  const state = await readSchemaState(database);
  const draining = isDraining();
  return { ready: state === 'ok' && !draining, ...schemaReadiness(state), draining };
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
  warn: (message: string, fields: object) => void,
): Promise<boolean> {
  for (let told = ''; !signal.aborted; ) {
    const { state, code } = await askSchema(database);
    if (state === 'ok') return !signal.aborted;
    const what = state === 'unreachable' ? whyUnreachable(code) : 'this version waits for its schema';
    const cause = `${state} ${code}`;
    if (cause !== told) warn(`not ready: ${what}`, { ...schemaReadiness(state), ...(code && { code }) });
    told = cause;
    await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => {});
  }
  return false;
}

/** Class 28 of SQLSTATE is `invalid authorization specification`. */
function whyUnreachable(code: string | undefined): string {
  return code?.startsWith('28') ? 'Postgres refuses this role or its password' : 'Postgres does not answer';
}
