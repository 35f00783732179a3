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
