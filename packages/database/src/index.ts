export {
  type Account,
  createAccount,
  findAccount,
  findAccountsByName,
  listAccounts,
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
export { findKeyHolder, type KeyHolder, touchKey } from './accounts/find-key-holder.ts';
export { unseal } from './accounts/seal.ts';
export {
  disableSigning,
  enableSigning,
  rotateSigning,
  type SigningSecret,
  showSigning,
} from './accounts/signing-secrets.ts';
export { type AuditEntry, type AuditEvent, listAudit, recordAudit } from './audit.ts';
export { answers, closeDatabase, type Database, openDatabase, openKnex, run } from './connect.ts';
export { faultOf, isStorageUnavailable, sqlstateOf } from './database-errors.ts';
export { migrate } from './migrate.ts';
export { editStoredOrder } from './orders/edit-order.ts';
export { findOrderBySource } from './orders/find-order-by-source.ts';
export {
  findOrderHistory,
  findReceiptBody,
  findReviewedOrder,
  type OrderAction,
  type OrderEvent,
  type OrderReview,
} from './orders/find-reviewed-order.ts';
export { countNeedingReview, listReviewSince, type ReviewNews } from './orders/list-news.ts';
export { listReview, type ReviewPage } from './orders/list-review.ts';
export type { OrderState } from './orders/lock-orders.ts';
export { findOrder, findReview, listOrders, type OrderJson, type Review } from './orders/orders.ts';
export type { ReviewFilter } from './orders/review-filter.ts';
export { type ReviewOutcome, type ReviewRequest, reviewOrders } from './orders/review-orders.ts';
export { type UndoOutcome, undoReview } from './orders/undo-review.ts';
export { type WritableOrder, type Written, writeOrders } from './orders/write-orders.ts';
export {
  type ClaimedReceipt,
  claimAlone,
  claimReceipts,
  findSuspects,
  releaseLease,
} from './receipts/claim-receipts.ts';
export { failReceipt } from './receipts/fail-receipt.ts';
export { type FinalReceipt, findFinalReceipts, findReceipt, type ReceiptRow } from './receipts/find-receipt.ts';
export {
  findReceiptRecord,
  listDead,
  listReceipts,
  type ReceiptRecord,
  redriveReceipt,
} from './receipts/operate-receipts.ts';
export { type Batch, settleBatch, sweepOutbox } from './receipts/outbox.ts';
export { dropOldPartitions, firstUuidAt, makePartitions } from './receipts/partitions.ts';
export { receiptJson } from './receipts/receipt-json.ts';
export {
  findOriginals,
  type IncomingReceipt,
  type Original,
  recordReceipts,
  removeOldIdempotencyKeys,
} from './receipts/record-receipts.ts';
export { acceptInvitation, createInvitation, findInvitation, type Invitation } from './users/invitations.ts';
export { listUsers, type Role, removeUser, type User } from './users/users.ts';
