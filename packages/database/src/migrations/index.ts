import * as initial from './001-initial.ts';
import * as payloadsByBatch from './002-payloads-by-batch.ts';
import * as accountRateLimits from './003-account-rate-limits.ts';
import * as usersAndAudit from './004-users-and-audit.ts';
import * as reviewList from './005-review-list.ts';
import * as rejectedDeliveries from './006-rejected-deliveries.ts';
import * as activity from './007-activity.ts';
import * as erasure from './008-erasure.ts';
import * as erasedReceipts from './009-erased-receipts.ts';
import * as resends from './010-resends.ts';
import * as holdResends from './011-hold-resends.ts';
import * as idempotencyKeysByTime from './012-idempotency-keys-by-time.ts';
import * as autovacuum from './013-autovacuum.ts';
import * as outboxAccounts from './014-outbox-accounts.ts';
import * as resendsReceivedAt from './015-resends-received-at.ts';
import * as dispatchOnThePrimary from './016-dispatch-on-the-primary.ts';
import * as outboxAndResendsIndexes from './017-outbox-and-resends-indexes.ts';
import * as eraseChangesTrigger from './018-erase-changes-trigger.ts';
import * as reviewNotesAndViews from './019-review-notes-and-views.ts';
import * as resendsStoredAt from './020-resends-stored-at.ts';
import * as resendsByStoredAt from './021-resends-by-stored-at.ts';
import * as workers from './022-workers.ts';
import * as cancelledOrders from './023-cancelled-orders.ts';
import * as heldCancellationsIndex from './024-held-cancellations-index.ts';
import * as cancellationRequests from './025-cancellation-requests.ts';
import * as cancelOrders from './026-cancel-orders.ts';
import * as sources from './027-sources.ts';
import * as sourceReceipts from './028-source-receipts.ts';
import * as sourceRejections from './029-source-rejections.ts';
import * as eventLogs from './030-event-logs.ts';
import * as duplicateEvents from './031-duplicate-events.ts';
import * as deadEvents from './032-dead-events.ts';
import * as orderEvents from './033-order-events.ts';
import * as endpoints from './034-endpoints.ts';
import * as slowEndpoints from './035-slow-endpoints.ts';
import * as eventGuards from './036-event-guards.ts';
import * as keyAccess from './037-key-access.ts';
import * as signedOnly from './038-signed-only.ts';
import * as auditEventIds from './039-audit-event-ids.ts';
import * as auditChain from './040-audit-chain.ts';
import * as sessionAssurance from './041-session-assurance.ts';
import * as memberships from './042-memberships.ts';
import * as invitedMembers from './043-invited-members.ts';
import * as usersAsMembers from './044-users-as-members.ts';
import * as operatorChanges from './045-operator-changes.ts';
import * as accountSecondFactor from './046-account-second-factor.ts';
import * as secondFactors from './047-second-factors.ts';
import * as usersWithSecondFactor from './048-users-with-second-factor.ts';
import * as passkeys from './049-passkeys.ts';
import * as identityBindings from './050-identity-bindings.ts';
import * as passwordResets from './051-password-resets.ts';
import * as unconfirmedSignIns from './052-unconfirmed-sign-ins.ts';
import * as triggerFunctions from './053-trigger-functions.ts';
import * as orderCompression from './054-order-compression.ts';
import * as receiptCompression from './055-receipt-compression.ts';
import * as portalRequests from './056-portal-requests.ts';
import * as sourcePrefixes from './057-source-prefixes.ts';
import * as recentConfirmations from './058-recent-confirmations.ts';
import * as platformCancellations from './059-platform-cancellations.ts';
import * as orderedAgain from './060-ordered-again.ts';

/** A step of the schema's way forward; CONTRIBUTING has the rules that `test/migrations.test.ts` holds it to. */
export interface Migration {
  name: string;
  /**
   * A string runs in a transaction. A list is for what Postgres refuses to do in one, such as `create index concurrently`: its statements run
   * one by one, and all of them again when one has failed or the process was killed.
   */
  up: string | readonly string[];
}

/** Every migration, in order. Append only: one that has run anywhere is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  payloadsByBatch,
  accountRateLimits,
  usersAndAudit,
  reviewList,
  rejectedDeliveries,
  activity,
  erasure,
  erasedReceipts,
  resends,
  holdResends,
  idempotencyKeysByTime,
  autovacuum,
  outboxAccounts,
  resendsReceivedAt,
  dispatchOnThePrimary,
  outboxAndResendsIndexes,
  eraseChangesTrigger,
  reviewNotesAndViews,
  resendsStoredAt,
  resendsByStoredAt,
  workers,
  cancelledOrders,
  heldCancellationsIndex,
  cancellationRequests,
  cancelOrders,
  sources,
  sourceReceipts,
  sourceRejections,
  eventLogs,
  duplicateEvents,
  deadEvents,
  orderEvents,
  endpoints,
  slowEndpoints,
  eventGuards,
  keyAccess,
  signedOnly,
  auditEventIds,
  auditChain,
  sessionAssurance,
  memberships,
  invitedMembers,
  usersAsMembers,
  operatorChanges,
  accountSecondFactor,
  secondFactors,
  usersWithSecondFactor,
  passkeys,
  identityBindings,
  passwordResets,
  unconfirmedSignIns,
  triggerFunctions,
  orderCompression,
  receiptCompression,
  portalRequests,
  sourcePrefixes,
  recentConfirmations,
  platformCancellations,
  orderedAgain,
];

/** The schema is what this version needs once this one has run. */
export const NEWEST_MIGRATION = (MIGRATIONS.at(-1) as Migration).name;

/** The names under which some migrations ran before they were renumbered, each with the one that it has now. */
export const FORMER_NAMES: ReadonlyMap<string, string> = new Map([
  ['018-outbox-accounts', '014-outbox-accounts'],
  ['018b-resends-received-at', '015-resends-received-at'],
  ['018c-dispatch-on-the-primary', '016-dispatch-on-the-primary'],
  ['019-outbox-and-resends-indexes', '017-outbox-and-resends-indexes'],
]);
