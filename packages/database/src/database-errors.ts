/** The cause of a failed statement; docs/decisions explains the kinds of failure. */
export type Fault = 'receipt' | 'infrastructure' | 'unknown';

// SQLSTATE classes (PostgreSQL, appendix A): data exception, integrity violation, raised by PL/pgSQL.
const RECEIPT_CLASSES = new Set(['22', '23', 'P0']);
// Connection, transaction state, rollback (deadlock, serialization), resources, prerequisite state, intervention, system, internal.
const INFRASTRUCTURE_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58', 'XX']);

// Order ids come from a sequence. A conflict means that the sequence is behind, as after a move by logical replication, which copies no
// sequences; each attempt advances it.
const OUR_CONSTRAINTS = new Set<unknown>(['orders_pkey']);

/** Classifies a statement's error by SQLSTATE and constraint; without a SQLSTATE, connection errors are infrastructure and others unknown. */
export function faultOf(error: unknown): Fault {
  const sqlstate = sqlstateOf(error);
  if (sqlstate === null) return isConnectionError(error) ? 'infrastructure' : 'unknown';
  if (isWithoutPartition(error)) return 'infrastructure';
  if (OUR_CONSTRAINTS.has((error as { constraint?: unknown }).constraint)) return 'infrastructure';
  if (RECEIPT_CLASSES.has(sqlstate.slice(0, 2))) return 'receipt';
  return INFRASTRUCTURE_CLASSES.has(sqlstate.slice(0, 2)) ? 'infrastructure' : 'unknown';
}

/** Whether Postgres could not read stored data because of a damaged page or file (class 58, system error, or XX, internal error). */
export function isDamage(error: unknown): boolean {
  return ['58', 'XX'].includes(sqlstateOf(error)?.slice(0, 2) ?? '');
}

/**
 * Whether a row was routed to a default partition while its partition was being attached; a retry succeeds. Postgres reports the table but,
 * unlike for our check constraints, no constraint.
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

// pg reports lost and timed-out connections as plain Errors with these messages (pg 8.23, client.js and pg-pool).
const CONNECTION_ERROR_MESSAGES =
  /timeout|connection terminated|connection ended|not queryable|client was closed|pool after calling end|client has encountered a connection error/i;

/** Whether no pool connection became free within the connection timeout (pg-pool 3.14, `connect`). */
export function isPoolBusy(error: unknown): boolean {
  return Error.isError(error) && error.message === 'timeout exceeded when trying to connect';
}

// System errors such as ECONNREFUSED, and Node's socket errors; other ERR_… codes are programming errors.
const SYSTEM_ERROR = /^(E(?!RR_)[A-Z]+|ERR_(SSL|TLS|SOCKET)_\w+)$/;

function isConnectionError(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && SYSTEM_ERROR.test(code)) return true;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isConnectionError);
  return CONNECTION_ERROR_MESSAGES.test(error.message);
}

/** Whether clients get `503 storage_unavailable`: Postgres is unreachable, refuses the role or database, or cannot store. */
export function isStorageUnavailable(error: unknown): boolean {
  const isRefused = ['28', '3D'].includes(sqlstateOf(error)?.slice(0, 2) ?? '');
  return isRefused || faultOf(error) === 'infrastructure';
}
