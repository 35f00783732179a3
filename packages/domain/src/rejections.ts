import type { ProblemCode } from './problems.ts';

/**
 * Rejections that the sender can fix, with their possible diagnoses; the portal shows them to the account. Others, such as `rate_limited` or
 * an outage, are no fault of the sender's program.
 */
export const REJECTIONS = {
  address_not_allowed: [],
  account_suspended: [],
  insufficient_scope: [],
  signature_required: [],
  signing_unavailable: [],
  missing_signature: ['another_header'],
  invalid_signature: [
    'malformed_header',
    'base64_instead_of_hex',
    'wrong_algorithm',
    'previous_secret',
    'trailing_newline',
    'signed_empty_body',
    'secret_decoded',
    'signed_with_api_key',
    'timestamp_signed',
    'members_sorted',
    'body_reserialized',
    'another_secret',
  ],
  unsupported_media_type: ['no_media_type', 'form_encoded', 'plain_text', 'another_json_type', 'another_charset'],
  unsupported_content_encoding: [],
  payload_too_large: [],
  malformed_body: [
    'cut_short',
    'empty',
    'not_utf8',
    'not_an_object',
    'encoded_twice',
    'form_encoded',
    'single_quotes',
    'trailing_comma',
  ],
  validation_failed: [],
  invalid_idempotency_key: [],
} as const satisfies Partial<Record<ProblemCode, readonly string[]>>;

export type RejectionCode = keyof typeof REJECTIONS;

/** The known causes of a rejection with this code. */
export type Diagnosis<Code extends RejectionCode = RejectionCode> = (typeof REJECTIONS)[Code][number];

/** Whether a rejection with this code is stored for the account. */
export function isRejection(code: string): code is RejectionCode {
  return Object.hasOwn(REJECTIONS, code);
}
