import { PORTAL_PROBLEMS, type PortalProblemCode } from './portal-problems.ts';
import { kindsOf, type ProblemKind } from './problem-kinds.ts';

/**
 * All problems of intake (RFC 9457). Codes are stable; the detail is the default. No detail repeats what was sent.
 */
export const PROBLEMS = kindsOf({
  missing_api_key: [
    401,
    'Send your API key in the header "Authorization: Bearer <API_KEY>".',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  ],
  invalid_api_key: [
    401,
    'This API key is unknown, replaced, expired or revoked.',
    { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  ],
  wrong_installation: [
    421,
    'This account is in another installation of the service. Send to the address in "installation_url".',
  ],
  address_not_allowed: [403, 'This API key does not work from the address of this request.'],
  account_suspended: [403, 'The account of this API key is suspended. Ask the service operator.'],
  insufficient_scope: [
    403,
    'This API key does not have the scope of this route.',
    { headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' } },
  ],
  signature_required: [403, 'This account accepts signed deliveries only. Send a signed request to the webhook route.'],
  signing_unavailable: [403, 'Signing is not enabled for this account. Ask the service operator to enable it.'],
  missing_signature: [401, 'Send the header "x-service-signature: sha256=<hex HMAC-SHA256 of the raw body>".'],
  invalid_signature: [
    401,
    'The signature is malformed or does not match. Sign the exact bytes you send with the signing secret of this account.',
  ],
  unsupported_media_type: [415, 'Send the body as "Content-Type: application/json", in UTF-8.'],
  unsupported_content_encoding: [415, 'Send the body uncompressed, without a Content-Encoding.'],
  payload_too_large: [413, 'The body is larger than this service accepts.'],
  malformed_body: [400, 'The body must be one JSON object in UTF-8.'],
  validation_failed: [422, 'The order breaks the rules listed in "errors".'],
  invalid_idempotency_key: [400, 'An Idempotency-Key is 1 to 255 visible ASCII characters.'],
  invalid_query: [400, 'A parameter of the query is not as described for this route.'],
  events_disabled: [
    409,
    'Events are not enabled for this account. Enable them in the portal under Developers, Events, or ask the service operator.',
  ],
  cursor_expired: [
    410,
    'Events after this cursor were removed because of their age. Start again without "after", and look up what is missing by its id.',
  ],
  receipt_not_found: [404, 'This account has no receipt with this id.'],
  not_found: [404, 'There is nothing at this path.'],
  method_not_allowed: [405, 'This path does not take this method; the Allow header names those it takes.'],
  rate_limited: [
    429,
    'This account sends faster than its rate allows. Retry after the time in Retry-After.',
    { title: 'Too many requests' },
  ],
  overloaded: [503, 'Too many orders are in flight to accept this one safely. Retry after the time in Retry-After.'],
  storage_unavailable: [
    503,
    'The service cannot reach its storage. Retry after the time in Retry-After, with the same Idempotency-Key if you sent one.',
  ],
  internal_error: [500, 'Something went wrong on our side. Retry, and report the request id if it happens again.'],
});

export type ProblemCode = keyof typeof PROBLEMS;

const KINDS: Record<ProblemCode | PortalProblemCode, ProblemKind> = { ...PROBLEMS, ...PORTAL_PROBLEMS };

/** A broken rule: a pointer into the payload as sent (RFC 6901), a stable code, and what to do about it. */
export type FieldError = { pointer: string; code: string; detail: string };

type ProblemOptions = {
  detail?: string;
  errors?: FieldError[];
  /** Of `wrong_installation`: the base URL of intake of the right one. */
  installationUrl?: string;
  headers?: Record<string, string>;
};

/** An error response. It must not repeat what was sent. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode | PortalProblemCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: FieldError[];
  readonly installationUrl?: string;
  readonly headers?: Record<string, string>;

  /** `options.headers` are added to the default headers of the code. */
  constructor(code: ProblemCode | PortalProblemCode, options: ProblemOptions = {}) {
    const kind = KINDS[code];
    const detail = options.detail ?? kind.detail;
    super(detail);
    this.code = code;
    this.status = kind.status;
    this.title = kind.title;
    this.detail = detail;
    if (options.errors) this.errors = options.errors;
    if (options.installationUrl !== undefined) this.installationUrl = options.installationUrl;
    if (kind.headers || options.headers) this.headers = { ...kind.headers, ...options.headers };
  }
}
