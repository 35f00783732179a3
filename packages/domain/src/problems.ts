type ProblemKind = { status: number; title: string; detail: string; headers?: Record<string, string> };

/**
 * Every refusal the service can answer with (RFC 9457). The code is what clients may rely on; `detail` is what a
 * developer reads when the thrower had nothing more exact to say. No detail ever repeats what was sent.
 */
export const PROBLEMS = {
  missing_api_key: {
    status: 401,
    title: 'Missing API key',
    detail: 'Send your API key in the header "Authorization: Bearer <API_KEY>".',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  invalid_api_key: {
    status: 401,
    title: 'Invalid API key',
    detail: 'This API key is unknown, replaced, expired or revoked.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  account_suspended: {
    status: 403,
    title: 'Account suspended',
    detail: 'The account of this API key is suspended. Ask the service operator.',
  },
  signing_unavailable: {
    status: 403,
    title: 'Signing unavailable',
    detail: 'Signing is not enabled for this account. Ask the service operator to enable it.',
  },
  missing_signature: {
    status: 401,
    title: 'Missing signature',
    detail: 'Send the header "x-service-signature: sha256=<hex HMAC-SHA256 of the raw body>".',
  },
  invalid_signature: {
    status: 401,
    title: 'Invalid signature',
    detail:
      'The signature is malformed or does not match. Sign the exact bytes you send with the signing secret of this account.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the order as "Content-Type: application/json", in UTF-8.',
  },
  unsupported_content_encoding: {
    status: 415,
    title: 'Unsupported content encoding',
    detail: 'Send the body uncompressed, without a Content-Encoding.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    detail: 'The body is larger than this service accepts.',
  },
  malformed_body: {
    status: 400,
    title: 'Malformed body',
    detail: 'The body must be one JSON object in UTF-8.',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    detail: 'The order breaks the rules listed in "errors".',
  },
  invalid_idempotency_key: {
    status: 400,
    title: 'Invalid idempotency key',
    detail: 'An Idempotency-Key is 1 to 255 visible ASCII characters.',
  },
  receipt_not_found: {
    status: 404,
    title: 'Receipt not found',
    detail: 'This account has no receipt with this id.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: 'There is nothing at this path.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path does not take this method; the Allow header names those it takes.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'This account sends faster than its rate allows. Retry after the time in Retry-After.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    detail: 'Too many orders are in flight to accept this one safely. Retry after the time in Retry-After.',
  },
  storage_unavailable: {
    status: 503,
    title: 'Storage unavailable',
    detail:
      'The service cannot reach its storage. Retry after the time in Retry-After, with the same Idempotency-Key if you sent one.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Retry, and report the request id if it happens again.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One broken rule: where (RFC 6901 pointer into the payload as sent), which (stable code), and what to do about it. */
export type FieldError = { pointer: string; code: string; detail: string };

type ProblemOptions = { detail?: string; errors?: FieldError[]; headers?: Record<string, string> };

/** A refusal of the catalogue, ready to be rendered. Nothing in it may repeat what was sent. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: FieldError[];
  readonly headers?: Record<string, string>;

  /** `options.headers` are added to those the catalogue gives the code. */
  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    const kind: ProblemKind = PROBLEMS[code];
    const detail = options.detail ?? kind.detail;
    super(detail);
    this.code = code;
    this.status = kind.status;
    this.title = kind.title;
    this.detail = detail;
    if (options.errors) this.errors = options.errors;
    if (kind.headers || options.headers) this.headers = { ...kind.headers, ...options.headers };
  }
}
