export {
  type Account,
  createAccount,
  findAccount,
  findAccountsByName,
  listAccounts,
  lockAccount,
  setHoldResends,
  setRateLimit,
  setSuspended,
} from './accounts/accounts.ts';
export {
  type ApiKey,
  createKey,
  findKey,
  listKeys,
  type NewApiKey,
  replaceKey,
  revokeKey,
} from './accounts/api-keys.ts';
export { countUnreadableSecrets } from './accounts/check-secrets.ts';
export { type AuthenticatedKey, findAuthenticatedKeys, touchKey } from './accounts/find-authenticated-keys.ts';
export { type AccountWithCounts, COUNTED_TO, listAccountsWithCounts } from './accounts/list-accounts-with-counts.ts';
export { type BusyAccount, listBusyAccounts } from './accounts/list-busy-accounts.ts';
export { type Resealed, resealSecrets } from './accounts/reseal-secrets.ts';
export { fingerprintOf, type SecretsKeys, tryToUnseal, unseal } from './accounts/seal.ts';
export { findSecretsToDiagnose, touchSecret } from './accounts/secrets-in-use.ts';
export {
  disableSigning,
  enableSigning,
  listSigning,
  rotateSigning,
  type SigningSecret,
  type SigningSecretRow,
  showSigning,
} from './accounts/signing-secrets.ts';
export { type Activity, readActivity } from './activity/read-activity.ts';
export { rollUpActivity } from './activity/roll-up-activity.ts';
export { type AuditEntry, type AuditEvent, listAudit, recordAudit } from './audit.ts';
export {
  closeDatabase,
  connect,
  type Database,
  isReachable,
  knexPoolState,
  openDatabase,
  openKnex,
  poolState,
  run,
} from './connect.ts';
export { faultOf, isDamage, isPoolBusy, isStorageUnavailable, sqlstateOf } from './database-errors.ts';
export { eraseOrder } from './erasure/erase-order.ts';
export { type CustomerOrder, type Examined, findCustomer } from './erasure/find-customer.ts';
export { APP_ROLES, type AppRole, grantAppRoles, hasAppRoles, setRolePassword } from './grant-roles.ts';
export { migrate, planMigrations, runMigrations } from './migrate.ts';
export { checksumOf, type MigrationPlan, SchemaDriftError } from './migration-record.ts';
export { MIGRATIONS, type Migration } from './migrations/index.ts';
export { editStoredOrder } from './orders/edit-order.ts';
export { fillSearchTerms } from './orders/fill-search-terms.ts';
export { findOrderBySource } from './orders/find-order-by-source.ts';
export {
  findOrderHistory,
  findReviewedOrder,
  type OrderEvent,
  type OrderReview,
  type ReviewedOrder,
} from './orders/find-reviewed-order.ts';
export { countNeedingReview, listReviewSince } from './orders/list-new-orders.ts';
export { listReview, type ReviewPage } from './orders/list-review.ts';
export {
  findOrder,
  findReview,
  type ListedOrder,
  listOrders,
  type OrderJson,
  type Review,
  readOrders,
} from './orders/orders.ts';
export { readStalls, type Stalls } from './orders/read-stalls.ts';
export type { ReviewFilter } from './orders/review-filter.ts';
export { type ReviewOutcome, reviewOrders } from './orders/review-orders.ts';
export { type UndoOutcome, undoReview } from './orders/undo-review.ts';
export { type DuplicateReceipt, type WritableOrder, type Written, writeOrders } from './orders/write-orders.ts';
export { type Archiving, readArchiving, readDatabaseSize } from './read-archiving.ts';
export {
  type ClaimedReceipt,
  claimAlone,
  claimReceipts,
  findSuspects,
  releaseLease,
} from './receipts/claim-receipts.ts';
export { countInDefault, createPartitions } from './receipts/create-partitions.ts';
export { countDead, type DeadFilter, findDead, listDead } from './receipts/dead-letters.ts';
export { dropOldPartitions, type Retention, removeLeftovers } from './receipts/drop-partitions.ts';
export { dryRunReceipt } from './receipts/dry-run-receipt.ts';
export { failReceipt } from './receipts/fail-receipt.ts';
export { findOldestPending } from './receipts/find-oldest-pending.ts';
export { findOriginals, type Original, type Replay, readOriginalBodies } from './receipts/find-originals.ts';
export {
  type FinalReceipt,
  findFinalReceipts,
  findReceipt,
  findReceiptBody,
  type ReceiptRow,
} from './receipts/find-receipt.ts';
export { type DeadLetterCursor, type DeadLetterOfAccount, listDeadLetters } from './receipts/list-dead-letters.ts';
export { LAST_UUID, listAccountDeadLetters, listAccountReceipts } from './receipts/list-receipts.ts';
export { settleBatch, sweepOutbox } from './receipts/outbox.ts';
export { firstUuidAt } from './receipts/partitions.ts';
export { type Load, readLoad } from './receipts/read-load.ts';
export { findReceiptRecord, type ReceiptRecord, readReceipts } from './receipts/receipt-records.ts';
export { BacklogTooLong, type NewestReceipt, reconcileReceipts } from './receipts/reconcile-receipts.ts';
export {
  type IncomingReceipt,
  recordReceipts,
} from './receipts/record-receipts.ts';
export { redriveReceipts } from './receipts/redrive-receipts.ts';
export { removeOldIdempotencyKeys } from './receipts/remove-idempotency-keys.ts';
export { type ReceiptSearch, searchReceipts } from './receipts/search-receipts.ts';
export {
  contentKey,
  findReceiptsByKeys,
  forgetKey,
  type Mismatch,
  storeMismatches,
} from './receipts/store-mismatches.ts';
export {
  addMissedRejections,
  listRejected,
  type MissedCount,
  type NewRejection,
  pruneRejected,
  type RejectedDelivery,
  recordRejected,
} from './rejected-deliveries.ts';
export { decideResend } from './resends/decide-resend.ts';
export { type Decision, findResends, type Resend } from './resends/find-resends.ts';
export { markResent, type Resent } from './resends/mark-resent.ts';
export { findAcceptable } from './resends/replace-all-items.ts';
export { type Duplicate, writeDuplicates } from './resends/write-duplicates.ts';
export { checkSchema, readSchemaState, schemaReadiness, untilSchema } from './schema-state.ts';
export { acceptInvitation, createInvitation, findInvitation } from './users/invitations.ts';
export { type CreatedInvitation, inviteUser } from './users/invite-user.ts';
export { findPasswordHash, setPassword } from './users/passwords.ts';
export { removeOldSignIns } from './users/remove-old-sign-ins.ts';
export { endSession, endSessions, listSessions, type UserSession } from './users/sessions.ts';
export { forgetSignInAttempts, returnSignInAttempt, takeSignInAttempt } from './users/sign-in-attempts.ts';
export { findUser, listUsers, noteSignIn, type Role, removeUser, type User } from './users/users.ts';
