/** What a failed statement says about whose fault it was; see docs/decisions on the two kinds of failure. */
export type Fault = 'receipt' | 'infrastructure' | 'unknown';

// SQLSTATE classes (PostgreSQL, appendix A): data exception, integrity violation, raised by PL/pgSQL.
const RECEIPT_CLASSES = new Set(['22', '23', 'P0']);
// Connection, transaction state, rollback (deadlock, serialization), resources, prerequisite state, intervention, system, internal.
const INFRASTRUCTURE_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58', 'XX']);

// An order's number comes from a sequence. It is taken only where the sequence is behind, as after a move by logical replication, which
// copies no sequences; each attempt brings it forward.
const OUR_CONSTRAINTS = new Set<unknown>(['orders_pkey']);

/** Sorts an error of a statement by its SQLSTATE and constraint; of those without one, what a connection reports is infrastructure, all else unknown. */
export function faultOf(error: unknown): Fault {
  const sqlstate = sqlstateOf(error);
  if (sqlstate === null) return isConnectionError(error) ? 'infrastructure' : 'unknown';
  if (isWithoutPartition(error)) return 'infrastructure';
  if (OUR_CONSTRAINTS.has((error as { constraint?: unknown }).constraint)) return 'infrastructure';
  if (RECEIPT_CLASSES.has(sqlstate.slice(0, 2))) return 'receipt';
  return INFRASTRUCTURE_CLASSES.has(sqlstate.slice(0, 2)) ? 'infrastructure' : 'unknown';
}

/** Whether Postgres could not read what it has stored: a damaged page or file (classes 58, system error, and XX, internal error). */
export function isDamage(error: unknown): boolean {
  return ['58', 'XX'].includes(sqlstateOf(error)?.slice(0, 2) ?? '');
}

/**
 * Whether a row met a default partition while the partition that it belongs to was attached; a second attempt finds that. Postgres names
 * the table and, other than for a check of ours, no constraint.
 */
function isWithoutPartition(error: unknown): boolean {
  const { table, constraint } = error as { table?: string; constraint?: string };
  return sqlstateOf(error) === '23514' && constraint === undefined && /^receipt(s|_payloads)(_|$)/.test(table ?? '');
}

/** The five characters of the error's SQLSTATE, or null. */
export function sqlstateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as object) ? code : null;
}

// pg reports a lost or silent connection as a plain Error; these are its words (pg 8.23, client.js and pg-pool).
const CONNECTION_WORDS =
  /timeout|connection terminated|connection ended|not queryable|client was closed|pool after calling end|client has encountered a connection error/i;

/** Whether all of a pool's connections were in use for as long as one is waited for (pg-pool 3.14, `connect`). */
export function isPoolBusy(error: unknown): boolean {
  return Error.isError(error) && error.message === 'timeout exceeded when trying to connect';
}

// ECONNREFUSED and its like, and Node's own of a socket; other ERR_… codes are faults of a program.
const SYSTEM_ERROR = /^(E(?!RR_)[A-Z]+|ERR_(SSL|TLS|SOCKET)_\w+)$/;

function isConnectionError(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && SYSTEM_ERROR.test(code)) return true;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isConnectionError);
  return CONNECTION_WORDS.test(error.message);
}

/** True for what a client should be told as `503 storage_unavailable`: Postgres cannot be reached, lets nobody in, or cannot store. */
export function isStorageUnavailable(error: unknown): boolean {
  const refusedEntry = ['28', '3D'].includes(sqlstateOf(error)?.slice(0, 2) ?? '');
  return refusedEntry || faultOf(error) === 'infrastructure';
}
