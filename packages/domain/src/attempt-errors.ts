/** Reasons why an attempt failed, as shown to the account. Codes are stable. */
export const ATTEMPT_ERRORS = {
  write_refused:
    'The order could not be written: the database rejected it. Nothing is lost; the operator can see why and redrive it.',
  body_unreadable:
    'The stored order could not be read. It is kept as it is; the operator can repair the storage and redrive it.',
  worker_crashed:
    'The worker ended each time it processed this order. The order is kept and can be redriven once the cause is fixed.',
  unexpected_error:
    'The order could not be processed because of a fault on our side. Nothing is lost; it can be redriven.',
  idempotency_key_reused:
    'This order came with an Idempotency-Key that another order used before, so it was kept and not processed. Redrive it to accept it as an order of its own.',
  mapping_failed:
    'The mapping of the source found no valid order id in this delivery, so it was kept and not processed. With the prefix of the source, an id has at most 255 characters. Correct the mapping, then redrive it.',
} as const;

export type AttemptErrorCode = keyof typeof ATTEMPT_ERRORS;

/** The sentence for a stored code; a code of another version that this one does not know gets the general sentence. */
export function attemptErrorDetail(code: string): string {
  return Object.hasOwn(ATTEMPT_ERRORS, code)
    ? ATTEMPT_ERRORS[code as AttemptErrorCode]
    : ATTEMPT_ERRORS.unexpected_error;
}
