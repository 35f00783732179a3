/** The SQLSTATEs that this service handles, by their names in PostgreSQL (appendix A). */
export const SQLSTATE = {
  uniqueViolation: '23505',
  checkViolation: '23514',
  invalidAuthorization: '28000',
  invalidPassword: '28P01',
  undefinedDatabase: '3D000',
  invalidSchemaName: '3F000',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  insufficientPrivilege: '42501',
  undefinedColumn: '42703',
  undefinedFunction: '42883',
  undefinedTable: '42P01',
  tooManyConnections: '53300',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  cannotConnectNow: '57P03',
} as const;

/** Classes, the first two characters of a SQLSTATE. */
export const SQLSTATE_CLASS = {
  connectionException: '08',
  dataException: '22',
  integrityViolation: '23',
  invalidTransactionState: '25',
  invalidAuthorization: '28',
  undefinedDatabase: '3D',
  transactionRollback: '40',
  insufficientResources: '53',
  objectNotInPrerequisiteState: '55',
  operatorIntervention: '57',
  systemError: '58',
  raisedByFunction: 'P0',
  internalError: 'XX',
} as const;

/** The cause of a failed statement; docs/decisions explains the kinds of failure. */
export type Fault = 'receipt' | 'infrastructure' | 'unknown';

const CLASS = SQLSTATE_CLASS;
const RECEIPT_CLASSES = [CLASS.dataException, CLASS.integrityViolation, CLASS.raisedByFunction];
const INFRASTRUCTURE_CLASSES = [
  CLASS.connectionException,
  CLASS.invalidTransactionState,
  CLASS.transactionRollback,
  CLASS.insufficientResources,
  CLASS.objectNotInPrerequisiteState,
  CLASS.operatorIntervention,
  CLASS.systemError,
  CLASS.internalError,
];

// The key of a partition of orders. Order ids come from a sequence. A conflict means that the sequence is behind, as after a move by logical replication, which copies no
// sequences; each attempt advances it.
const ORDER_ID_CONSTRAINT = /^orders_\d+_pkey$/;

/** Classifies a statement's error by SQLSTATE and constraint; without a SQLSTATE, connection errors are infrastructure and others unknown. */
export function faultOf(error: unknown): Fault {
  const sqlstate = sqlstateOf(error);
  if (sqlstate === null) return isConnectionError(error) ? 'infrastructure' : 'unknown';
  if (isWithoutPartition(error)) return 'infrastructure';
  if (ORDER_ID_CONSTRAINT.test(String((error as { constraint?: unknown }).constraint))) return 'infrastructure';
  if (isOfClass(error, RECEIPT_CLASSES)) return 'receipt';
  return isOfClass(error, INFRASTRUCTURE_CLASSES) ? 'infrastructure' : 'unknown';
}

/** Whether Postgres could not read stored data because of a damaged page or file. */
export function isDamage(error: unknown): boolean {
  return isOfClass(error, [CLASS.systemError, CLASS.internalError]);
}

/** Whether Postgres ended the statement without a change: it was cancelled, got no lock or no resources, or conflicted with another one. */
export function isRolledBack(error: unknown): boolean {
  const sqlstate = sqlstateOf(error);
  const isEnded = sqlstate === SQLSTATE.queryCanceled || sqlstate === SQLSTATE.lockNotAvailable;
  return isEnded || isOfClass(error, [CLASS.transactionRollback, CLASS.insufficientResources]);
}

/**
 * Whether a row was routed to a default partition while its partition was being attached; a retry succeeds. Postgres reports the table but,
 * unlike for our check constraints, no constraint.
 */
function isWithoutPartition(error: unknown): boolean {
  const { table, constraint } = error as { table?: string; constraint?: string };
  return (
    sqlstateOf(error) === SQLSTATE.checkViolation &&
    constraint === undefined &&
    /^(receipts|receipt_payloads|orders)(_|$)/.test(table ?? '')
  );
}

/** The five characters of the error's SQLSTATE, or null. */
export function sqlstateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as object) ? code : null;
}

function isOfClass(error: unknown, classes: readonly string[]): boolean {
  return classes.includes(sqlstateOf(error)?.slice(0, 2) ?? '');
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

/** Whether the connection was lost, could not be made, or did not reply in time. */
export function isConnectionError(error: unknown): boolean {
  if (!Error.isError(error) || sqlstateOf(error) !== null) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && SYSTEM_ERROR.test(code)) return true;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isConnectionError);
  return CONNECTION_ERROR_MESSAGES.test(error.message);
}

/** Whether clients get `503 storage_unavailable`: Postgres is unreachable, rejects the role or database, or cannot store. */
export function isStorageUnavailable(error: unknown): boolean {
  const isRejected = isOfClass(error, [CLASS.invalidAuthorization, CLASS.undefinedDatabase]);
  return isRejected || faultOf(error) === 'infrastructure';
}
