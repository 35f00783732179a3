export { type AccountSetup, readSetup } from './accounts/account-setup.ts';
export {
  type Account,
  createAccount,
  findAccount,
  findAccountsByName,
  listAccounts,
  lockAccount,
  setHoldResends,
  setRateLimit,
  setSignedOnly,
  setSuspended,
} from './accounts/accounts.ts';
export {
  type ApiKey,
  createKey,
  describeAccess,
  findKey,
  isReplaced,
  type KeyAccess,
  listKeys,
  type NewApiKey,
  replaceKey,
  revokeKey,
  updateKey,
} from './accounts/api-keys.ts';
export { type AccountWithCounts, COUNTED_TO, listAccountsWithCounts } from './accounts/list-accounts-with-counts.ts';
export { type BusyAccount, listBusyAccounts } from './accounts/list-busy-accounts.ts';
export { type Resealed, resealSecrets } from './accounts/reseal-secrets.ts';
export { fingerprintOf, type SecretsKeys, seal, tryToUnseal, unseal } from './accounts/seal.ts';
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
export { type ChainEnd, type ChainedEvent, findChainEnd, readChain, verifyChain } from './audit-chain.ts';
export { type NamedEvent, nameSubjects } from './audit-subjects.ts';
export { closeRequests } from './cancellations/close-requests.ts';
export { closeDatabase, connect, type Database, knexPoolState, openDatabase, openKnex, poolState } from './connect.ts';
export { faultOf, isDamage, isPoolBusy, isStorageUnavailable, sqlstateOf } from './database-errors.ts';
export {
  createEndpoint,
  type DeliveryAttempt,
  type DisabledReason,
  type Endpoint,
  enableEndpoint,
  findAnyEndpoint,
  findEndpoint,
  listAttempts,
  listEndpoints,
  MAX_RESENT,
  pauseEndpoint,
  removeEndpoint,
  requestTest,
  resendEvents,
  rotateEndpointSecret,
} from './endpoints/endpoints.ts';
export { pruneAttempts, removeOrphanedDeliveries } from './endpoints/prune-deliveries.ts';
export { eraseOrder } from './erasure/erase-order.ts';
export { type CustomerOrder, type Examined, findCustomer } from './erasure/find-customer.ts';
export { type EventLogState, pruneEvents, readEventLog, setEvents } from './events/event-logs.ts';
export { createFailureLog } from './failure-log.ts';
export { APP_ROLES, type AppRole, grantAppRoles, hasAppRoles, setRolePassword } from './grant-roles.ts';
export { recordAuditWithin } from './limited-audit.ts';
export { migrate, planMigrations, runMigrations } from './migrate.ts';
export { checksumOf, type MigrationPlan, SchemaDriftError } from './migration-record.ts';
export { MIGRATIONS, type Migration } from './migrations/index.ts';
export { addNote } from './orders/add-note.ts';
export { editStoredOrder } from './orders/edit-order.ts';
export { fillSearchTerms } from './orders/fill-search-terms.ts';
export type { ListedOrder, OrderJson } from './orders/order-rows.ts';
export { findOrder, findReview, listOrders, type Review, readOrders } from './orders/orders.ts';
export { type ExportedOrder, hasOrders, readExported } from './orders/read-exported.ts';
export { removeHeldCancellations } from './orders/remove-held-cancellations.ts';
export { REVIEW_DECISIONS, type ReviewDecision, type ReviewOutcome, reviewOrders } from './orders/review-orders.ts';
export {
  createView,
  deleteView,
  listViews,
  MAX_VIEWS,
  type ReviewView,
  type ViewOwner,
} from './orders/review-views.ts';
export { type UndoOutcome, undoReview } from './orders/undo-review.ts';
export { createPartitions } from './partitions/create-partitions.ts';
export { countInDefault } from './partitions/default-partitions.ts';
export { dropOldPartitions, type Retention, removeLeftovers } from './partitions/drop-partitions.ts';
export { countUnreadableSecrets } from './prepared/accounts/check-secrets.ts';
export { countExpiringKeys } from './prepared/accounts/count-expiring-keys.ts';
export { type AuthenticatedKey, findAuthenticatedKeys, touchKey } from './prepared/accounts/find-authenticated-keys.ts';
export { findSecretsToDiagnose, touchSecret } from './prepared/accounts/secrets-in-use.ts';
export {
  type CancellationRequest,
  findCancellationRequest,
  listOpenRequests,
  type OpenRequests,
} from './prepared/cancellations/list-requests.ts';
export { chainAuditEvents } from './prepared/chain-audit.ts';
export { type ClaimedEndpoint, claimEndpoints } from './prepared/endpoints/claim-endpoints.ts';
export { type Delivery, type NextDeliveries, readDeliveries } from './prepared/endpoints/read-deliveries.ts';
export { type Attempt, type RoundOutcome, settleDeliveries } from './prepared/endpoints/settle-deliveries.ts';
export { publishEvents } from './prepared/events/publish-events.ts';
export { type EventLog, findEventLog, findNewestEvents, readEvents } from './prepared/events/read-events.ts';
export { type Cancelled, type CancelRequest, cancelOrders, OrdersBusy } from './prepared/orders/cancel-orders.ts';
export { countNotes, findNotes, type Note } from './prepared/orders/find-notes.ts';
export { findOrderBySource, isCancellationHeld } from './prepared/orders/find-order-by-source.ts';
export {
  findOrderHistory,
  findReviewedOrder,
  type OrderEvent,
  type OrderReview,
  type ReviewedOrder,
} from './prepared/orders/find-reviewed-order.ts';
export { findSimilar, type SimilarOrder } from './prepared/orders/find-similar.ts';
export { countNeedingReview, listReviewSince } from './prepared/orders/list-new-orders.ts';
export { type AgeOrder, listReview, type ReviewPage } from './prepared/orders/list-review.ts';
export {
  isSortKey,
  listMatchingIds,
  listSorted,
  SORTS,
  type Sort,
  type SortedPage,
  type SortedPlace,
} from './prepared/orders/list-sorted.ts';
export {
  type ChangedOrder,
  listById,
  listUpdates,
  MAX_EDITED,
  type OrderUpdates,
} from './prepared/orders/list-updates.ts';
export { type ListMarks, markListed } from './prepared/orders/mark-listed.ts';
export { type ReviewOverview, readReviewOverview } from './prepared/orders/read-review-overview.ts';
export { readStalls, type Stalls } from './prepared/orders/read-stalls.ts';
export type { ReviewFilter } from './prepared/orders/review-filter.ts';
export { writeCancelled } from './prepared/orders/write-cancelled.ts';
export {
  type DuplicateReceipt,
  type WritableOrder,
  type Written,
  writeOrders,
} from './prepared/orders/write-orders.ts';
export { type Archiving, readArchiving, readDatabaseUse } from './prepared/read-archiving.ts';
export { claimAlone, claimReceipts, findSuspects, releaseLease } from './prepared/receipts/claim-receipts.ts';
export { dryRunReceipt } from './prepared/receipts/dry-run-receipt.ts';
export { failReceipt } from './prepared/receipts/fail-receipt.ts';
export { findOriginals, type Original, type Replay, readOriginalBodies } from './prepared/receipts/find-originals.ts';
export {
  type FinalReceipt,
  findFinalReceipts,
  findReceipt,
  findReceiptBody,
  type ReceiptRow,
} from './prepared/receipts/find-receipt.ts';
export { listAccountReceipts } from './prepared/receipts/list-receipts.ts';
export { settleBatch, sweepOutbox } from './prepared/receipts/outbox.ts';
export type { PendingReceipt } from './prepared/receipts/pending-receipts.ts';
export { type Load, readLoad } from './prepared/receipts/read-load.ts';
export { readNewReceipts } from './prepared/receipts/read-new-receipts.ts';
export { BacklogTooLong, type NewestReceipt, reconcileReceipts } from './prepared/receipts/reconcile-receipts.ts';
export {
  type IncomingReceipt,
  recordReceipts,
  storedLength,
} from './prepared/receipts/record-receipts.ts';
export { type ReceiptSearch, searchReceipts } from './prepared/receipts/search-receipts.ts';
export {
  contentKey,
  deleteIdempotencyKey,
  findReceiptsByKeys,
  type Mismatch,
  storeMismatches,
} from './prepared/receipts/store-mismatches.ts';
export {
  addMissedRejections,
  type MissedCount,
  type NewRejection,
  recordRejected,
} from './prepared/record-rejected.ts';
export {
  type Decision,
  findResends,
  markResent,
  type Resend,
  type ResendState,
} from './prepared/resends/find-resends.ts';
export { type Duplicate, writeDuplicates } from './prepared/resends/write-duplicates.ts';
export { removeOldPresence, seeReviewers, type Viewer } from './prepared/review-presence.ts';
export { run } from './prepared/run.ts';
export { checkSchema, isReachable, readSchemaState, schemaReadiness, untilSchema } from './prepared/schema-state.ts';
export {
  addSourceActivity,
  DELIVERY_OUTCOMES,
  type DeliveryCount,
  type DeliveryOutcome,
  KEPT_DELIVERIES,
} from './prepared/sources/add-activity.ts';
export { findSources, type SourceOfDelivery } from './prepared/sources/find-sources.ts';
export { storeUnmapped } from './prepared/sources/store-unmapped.ts';
export { useSource } from './prepared/sources/use-source.ts';
export {
  countDead,
  type DeadFilter,
  type DeadLetterCursor,
  type DeadLetterOfAccount,
  findDeadIds,
  listAccountDeadLetters,
  listDeadIds,
  listDeadLetters,
} from './receipts/dead-letters.ts';
export { findOldestPending, findReceiptRecord, type ReceiptRecord, readReceipts } from './receipts/receipt-records.ts';
export { redriveReceipts } from './receipts/redrive-receipts.ts';
export { removeOldIdempotencyKeys } from './receipts/remove-idempotency-keys.ts';
export { firstUuidAt, LAST_UUID } from './receipts/uuids.ts';
export { listRejected, pruneRejected, type RejectedDelivery } from './rejected-deliveries.ts';
export { decideResend } from './resends/decide-resend.ts';
export { findAcceptable } from './resends/replace-all-items.ts';
export {
  countUnmapped,
  findDeliveries,
  pruneSourceActivity,
  readSourceActivity,
  type SourceActivitySummary,
  type StoredDelivery,
} from './sources/activity.ts';
export {
  createSource,
  findSource,
  findSourceOfReceipt,
  listMappings,
  listSources,
  type MappingVersion,
  removeSource,
  replaceSourceId,
  replaceSourceSecret,
  type Source,
  setIdPrefix,
  setMapping,
} from './sources/sources.ts';
export { SQLSTATE } from './sqlstates.ts';
export { type AuthSecret, authSecretsOf } from './users/auth-secrets.ts';
export { type CodeKind, codeCounterKeys, forgetCodeAttempts } from './users/code-attempts.ts';
export { type Identity, resolveIdentity, unbindUser } from './users/identities.ts';
export {
  acceptInvitation,
  createInvitation,
  findInvitation,
  type Invitation,
  joinAccount,
} from './users/invitations.ts';
export { type CreatedInvitation, inviteAgain, inviteMember, inviteUser } from './users/invite-user.ts';
export {
  type AccountState,
  changeMemberRole,
  findAccountState,
  listAccountIds,
  listMembers,
  listMemberships,
  MEMBER_ROLES,
  type Member,
  type MemberRefusal,
  type MemberRole,
  type Membership,
  removeMember,
} from './users/memberships.ts';
export {
  hasOtherOperator,
  listOperatorChanges,
  type OperatorChange,
  type OperatorChangeKind,
  requestOperatorChange,
  takeOperatorChange,
} from './users/operator-changes.ts';
export { createPasswordReset, findPasswordReset, usePasswordReset } from './users/password-resets.ts';
export {
  type Credential,
  findCredential,
  findPasswordHash,
  replacePasswordHash,
  setPassword,
} from './users/passwords.ts';
export { listPendingInvitations, type PendingInvitation, withdrawInvitations } from './users/pending-invitations.ts';
export {
  claimRequest,
  type EarlierRequest,
  type PortalRequest,
  releaseRequest,
  removeOldRequests,
  settleRequest,
} from './users/portal-requests.ts';
export { recordOfUser } from './users/record-of-user.ts';
export { type ResealedTotp, resealTotpSecrets } from './users/reseal-totp-secrets.ts';
export {
  findChallengedUser,
  findPasskeyUser,
  findSecondFactors,
  findTotp,
  finishTotp,
  hashRecoveryCode,
  hasSecondFactor,
  ownsSecondFactor,
  removePasskey,
  removeTotp,
  resetSecondFactors,
  type SecondFactors,
  setRecoveryCodes,
  setSecondFactorRequired,
  startTotp,
  takeTimeStep,
} from './users/second-factors.ts';
export {
  confirmSession,
  endSession,
  endSessions,
  endWeakSessions,
  findOpenedSession,
  hasSession,
  listSessions,
  lockUser,
  type OpenedSession,
  type UserSession,
} from './users/sessions.ts';
export {
  forgetSignInAttempts,
  removeOldSignIns,
  returnSignInAttempt,
  takeSignInAttempt,
} from './users/sign-in-attempts.ts';
export {
  askAboutSignIn,
  listUnconfirmedSignIns,
  settleSignIn,
  type UnconfirmedSignIn,
} from './users/unconfirmed-sign-ins.ts';
export { findUser, listUsers, noteSignIn, type Role, removeUser, type User } from './users/users.ts';
export { listWorkers, recordHeartbeat, removeHeartbeat, type WorkerState } from './workers.ts';
