export { createApiKey, createSigningSecret, hashApiKey, isApiKey } from './api-key.ts';
export { ATTEMPT_ERRORS, type AttemptErrorCode, attemptErrorDetail } from './attempt-errors.ts';
export { compareResent, type Difference } from './compare-orders.ts';
export { contactsIn, mentionsAny } from './contacts.ts';
export { type CustomerSearch, searchCustomer } from './customer-search.ts';
export { editOrder, type OrderChange, type OrderEdits } from './edit-order.ts';
export { parseEmailAddress } from './email-address.ts';
export { isDeeperThan } from './measure-depth.ts';
export { toAsciiDigits } from './normalize/digits.ts';
export { LIMITS } from './normalize/limits.ts';
export { EMIRATE_CODES } from './normalize/place/emirates.ts';
export { WARNINGS, type Warning } from './normalize/warnings.ts';
export { normalizeOrder } from './normalize-order.ts';
export type { Item, NormalizedOrder, Order } from './order.ts';
export { parseBody } from './parse-body.ts';
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
export { diagnoseMediaType, hasAnotherSignature } from './rejections/diagnose-headers.ts';
export { diagnoseSignature } from './rejections/diagnose-signature.ts';
export { type Diagnosis, isRejection, REJECTIONS, type RejectionCode } from './rejections.ts';
export { claimedDigest, isSignedWith } from './signature.ts';
export {
  MAX_SOURCE_ORDER_IDS,
  readSourceOrderIds,
  SOURCE_ORDER_ID_ERRORS,
  SOURCE_ORDER_IDS_ERROR,
  validateOrder,
  validateStrictly,
} from './validate-order.ts';
