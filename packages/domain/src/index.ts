export { mergeSent, type SentOrder } from './absent-fields.ts';
export { createAddressMatcher, isAddressRange, MAX_ADDRESS_RANGES } from './address-ranges.ts';
export { createApiKey, createSigningSecret, createSourceId, hashApiKey, isApiKey, isSourceId } from './api-key.ts';
export { fieldAt, type OrderEdits } from './apply-edits.ts';
export { ATTEMPT_ERRORS, type AttemptErrorCode, attemptErrorDetail } from './attempt-errors.ts';
export {
  CANCELLATION_ERRORS,
  CANCELLATION_INVALID,
  type Cancellation,
  type CancellationOutcome,
  REASON_ERRORS,
  readCancellations,
} from './cancellations.ts';
export { compareResent, type Difference, hasResentChanges, ORDERED_AGAIN } from './compare-orders.ts';
export { contactsIn, mentionsAny } from './contacts.ts';
export { contentFingerprint } from './content-fingerprint.ts';
export { type CustomerSearch, searchCustomer } from './customer-search.ts';
export { editOrder, type OrderChange } from './edit-order.ts';
export { parseEmailAddress } from './email-address.ts';
export { DELIVERY_ERRORS, type DeliveryError } from './endpoints/delivery-errors.ts';
export {
  createEndpointId,
  isEndpointId,
  isExemptHost,
  readEndpointUrl,
  readEventTypes,
  withoutQuery,
} from './endpoints/read-endpoint.ts';
export { retryDelay } from './endpoints/retry-schedule.ts';
export {
  type AccountEvent,
  EVENT_TYPES,
  type EventType,
  eventId,
  eventJson,
  TEST_EVENT,
  testEventJson,
} from './events.ts';
export {
  DEFAULT_MAX_BATCH_BYTES,
  DEFAULT_MAX_BODY_BYTES,
  MAX_BATCH_ERRORS,
  MAX_BATCH_ORDERS,
  MAX_CANCEL_BYTES,
  MAX_CANCELLATIONS,
  MAX_EVENTS,
  MAX_REASON,
  MAX_SOURCE_ORDER_IDS,
} from './interface-limits.ts';
export { differenceJson, itemJson, warningJson } from './json-members.ts';
export { KEY_SCOPES, type KeyScope } from './key-scopes.ts';
export { isDeeperThan } from './measure-depth.ts';
export { toAsciiDigits } from './normalize/digits.ts';
export { LIMITS, MAX_ITEMS } from './normalize/limits.ts';
export { EMIRATE_CODES } from './normalize/place/emirates.ts';
export { WARNINGS, type Warning } from './normalize/warnings.ts';
export { normalizeOrder, normalizeSent } from './normalize-order.ts';
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
export {
  type ListedReceipt,
  listedReceiptJson,
  payloadJson,
  type Receipt,
  receiptJson,
  type SourceOfReceipt,
} from './receipt-json.ts';
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
export { findSignedValues } from './rejections/signed-timestamps.ts';
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
export { authenticateDelivery } from './sources/authenticate-delivery.ts';
export { createSourceSecret, createStandardSecret } from './sources/create-secret.ts';
export {
  defaultIdPrefix,
  platformOrderId,
  readIdPrefix,
  storedOrderId,
} from './sources/id-prefix.ts';
export { pointerSegments, toJsonPointer } from './sources/json-pointer.ts';
export { type MappedPayload, mapOrder } from './sources/map-order.ts';
export type { FieldMapping, MappedValue, OrderMapping } from './sources/mapping.ts';
export { nearestName } from './sources/nearest-name.ts';
export { parseDelivery } from './sources/parse-delivery.ts';
export { PRESETS } from './sources/presets.ts';
export { printMapping } from './sources/print-mapping.ts';
export {
  type DeliveryKind,
  type DeliveryReading,
  mapStoredDelivery,
  modifiedAt,
  namedHeaders,
  type ReadDelivery,
  readDelivery,
} from './sources/read-delivery.ts';
export { readMapping } from './sources/read-mapping.ts';
export { readSourceSecret } from './sources/read-secret.ts';
export { readSettings } from './sources/read-settings.ts';
export { SOURCE_PRESETS, type SourcePreset, type SourceSettings } from './sources/settings.ts';
export { suggestField } from './sources/suggest-field.ts';
export {
  readSourceOrderIds,
  SOURCE_ORDER_ID_ERRORS,
  SOURCE_ORDER_IDS_ERROR,
  SOURCE_ORDER_IDS_INVALID,
  sourceOrderIdErrors,
  validateOrder,
  validateStrictly,
} from './validate-order.ts';
