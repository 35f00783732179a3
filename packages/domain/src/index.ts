export { createApiKey, createSigningSecret, hashApiKey, isApiKey } from './api-key.ts';
export { fieldAt, type OrderEdits } from './apply-edits.ts';
export { ATTEMPT_ERRORS, type AttemptErrorCode, attemptErrorDetail } from './attempt-errors.ts';
export { compareResent, type Difference, hasResentChanges } from './compare-orders.ts';
export { contactsIn, mentionsAny } from './contacts.ts';
export { contentFingerprint } from './content-fingerprint.ts';
export { type CustomerSearch, searchCustomer } from './customer-search.ts';
export { editOrder, type OrderChange } from './edit-order.ts';
export { parseEmailAddress } from './email-address.ts';
export {
  DEFAULT_MAX_BATCH_BYTES,
  DEFAULT_MAX_BODY_BYTES,
  MAX_BATCH_ERRORS,
  MAX_BATCH_ORDERS,
  MAX_SOURCE_ORDER_IDS,
} from './interface-limits.ts';
export { differenceJson, itemJson, warningJson } from './json-members.ts';
export { isDeeperThan } from './measure-depth.ts';
export { toAsciiDigits } from './normalize/digits.ts';
export { LIMITS, MAX_ITEMS } from './normalize/limits.ts';
export { EMIRATE_CODES } from './normalize/place/emirates.ts';
export { WARNINGS, type Warning } from './normalize/warnings.ts';
export { normalizeOrder } from './normalize-order.ts';
export type { Item, NormalizedOrder, Order } from './order.ts';
export { LONG_BODY_BYTES, parseBody } from './parse-body.ts';
export {
  type FieldError,
  PORTAL_PROBLEMS,
  PROBLEMS,
  Problem,
  type ProblemCode,
} from './problems.ts';
export {
  type AccountRateLimit,
  formatAccountRateLimit,
  parseAccountRateLimit,
  parseRateLimit,
  type RateLimit,
} from './rate-limit.ts';
export { type ListedReceipt, listedReceiptJson, payloadJson, type Receipt, receiptJson } from './receipt-json.ts';
export {
  type Channel,
  FINAL_STATES,
  isFinal,
  RECEIPT_STATES,
  REVIEW_STATES,
  type ReceiptState,
  type ReviewState,
} from './receipt-states.ts';
export { redactedBody, redactOrder } from './redact-order.ts';
export { diagnoseBody } from './rejections/diagnose-body.ts';
export { diagnoseHeaders } from './rejections/diagnose-headers.ts';
export { diagnoseSignature, type WrongSignature } from './rejections/diagnose-signature.ts';
export { type Diagnosis, isRejection, REJECTIONS, type RejectionCode } from './rejections.ts';
export {
  BLOCKERS,
  type Blocker,
  blockersOf,
  blockersOfDelivery,
  CORRECTED_CODES,
  isReachable,
  REACHABLE_PHONE,
  SEVERITIES,
  type Severity,
  severityFrom,
  severityOf,
  severityOfWarning,
  type WarningSeverity,
} from './severity.ts';
export { claimedDigest, isSignedWith } from './signature.ts';
export {
  readSourceOrderIds,
  SOURCE_ORDER_ID_ERRORS,
  SOURCE_ORDER_IDS_ERROR,
  SOURCE_ORDER_IDS_INVALID,
  validateOrder,
  validateStrictly,
} from './validate-order.ts';
