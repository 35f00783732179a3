type ProblemKind = { status: number; title: string; detail: string; headers?: Record<string, string> };

/**
 * All problems of intake (RFC 9457). Codes are stable; `detail` is the default. No detail repeats what was sent.
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
  address_not_allowed: {
    status: 403,
    title: 'Address not allowed',
    detail: 'This API key does not work from the address of this request.',
  },
  account_suspended: {
    status: 403,
    title: 'Account suspended',
    detail: 'The account of this API key is suspended. Ask the service operator.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    detail: 'This API key does not have the scope of this route.',
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  },
  signature_required: {
    status: 403,
    title: 'Signature required',
    detail: 'This account accepts signed deliveries only. Send a signed request to the webhook route.',
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
    detail: 'Send the body as "Content-Type: application/json", in UTF-8.',
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
  invalid_query: {
    status: 400,
    title: 'Invalid query',
    detail: 'A parameter of the query is not as described for this route.',
  },
  events_disabled: {
    status: 409,
    title: 'Events disabled',
    detail:
      'Events are not enabled for this account. Enable them in the portal under Integrations, or ask the service operator.',
  },
  cursor_expired: {
    status: 410,
    title: 'Cursor expired',
    detail:
      'Events after this cursor were removed because of their age. Start again without "after", and look up what is missing by its id.',
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

/** Further problems of the portal. */
export const PORTAL_PROBLEMS = {
  not_signed_in: { status: 401, title: 'Not signed in', detail: 'Sign in first; the session may have ended.' },
  not_permitted: {
    status: 403,
    title: 'Not permitted',
    detail: 'Your role in this account does not permit this. An owner of the account can change your role.',
  },
  authentication_required: {
    status: 403,
    title: 'Authentication required',
    detail: 'Confirm that it is you, then repeat the request.',
  },
  second_factor_required: {
    status: 403,
    title: 'Second factor required',
    detail: 'Sign in with a second factor. If you have none yet, set one up first.',
  },
  wrong_credentials: {
    status: 401,
    title: 'Wrong credentials',
    detail: 'The e-mail address or the password is wrong.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    detail: 'Too many failed sign-ins. Retry after the time in Retry-After.',
  },
  wrong_code: {
    status: 401,
    title: 'Wrong code',
    detail: 'The code is wrong, has expired, or was used before.',
  },
  passkey_rejected: {
    status: 401,
    title: 'Passkey rejected',
    detail: 'The passkey is unknown here, did not verify its user, or the request took too long. Try again.',
  },
  sign_in_expired: {
    status: 401,
    title: 'Sign-in expired',
    detail: 'The time for the second step is over, or too many codes were wrong. Begin the sign-in again.',
  },
  last_second_factor: {
    status: 409,
    title: 'Last second factor',
    detail: 'You need a second factor, and this is your only one. Add another one first.',
  },
  second_factor_not_found: {
    status: 404,
    title: 'Second factor not found',
    detail: 'You have no such passkey or authenticator app.',
  },
  too_many_passkeys: {
    status: 409,
    title: 'Too many passkeys',
    detail: 'You have 20 passkeys. Remove one that is no longer used.',
  },
  too_many_sign_ins: {
    status: 429,
    title: 'Too many sign-ins',
    detail: 'Too many passwords are being checked at the moment. Retry after the time in Retry-After.',
    headers: { 'Retry-After': '2' },
  },
  cross_site_request: {
    status: 403,
    title: 'Cross-site request',
    detail: 'Changes must be requested by a page of this portal.',
  },
  invitation_not_found: {
    status: 404,
    title: 'Invitation not found',
    detail: 'This invitation is unknown, used or expired. Ask for a new one.',
  },
  sign_in_to_accept: {
    status: 409,
    title: 'Sign in to accept',
    detail: 'Somebody with this address can sign in already. Sign in with it, then open the link again.',
  },
  invitation_of_other_user: {
    status: 403,
    title: 'Invitation of another user',
    detail: 'This invitation is for another e-mail address than the one that you signed in with.',
  },
  reset_not_found: {
    status: 404,
    title: 'Reset not found',
    detail: 'This link for a new password is unknown, used, replaced or expired. Ask for a new one.',
  },
  mail_not_configured: {
    status: 409,
    title: 'Mail not configured',
    detail: 'This portal sends no mail. Ask the service operator for a link to set a new password.',
  },
  identity_provider_unavailable: {
    status: 503,
    title: 'Identity provider unavailable',
    detail: 'The identity provider cannot be used right now. Retry in a moment, or sign in with the password.',
  },
  account_not_found: { status: 404, title: 'Account not found', detail: 'There is no account with this id.' },
  order_not_found: { status: 404, title: 'Order not found', detail: 'This account has no order with this id.' },
  key_not_found: { status: 404, title: 'Key not found', detail: 'This account has no key with this id.' },
  too_many_keys: {
    status: 409,
    title: 'Too many keys',
    detail: 'This account has 100 active keys. Revoke one that is no longer used.',
  },
  source_not_found: { status: 404, title: 'Source not found', detail: 'This account has no source with this number.' },
  no_order_id: {
    status: 409,
    title: 'No order id',
    detail: 'The mapping of the source still finds no valid order id in this delivery. Correct the mapping first.',
  },
  too_many_sources: {
    status: 409,
    title: 'Too many sources',
    detail: 'This account has 50 sources. Remove one that is no longer used.',
  },
  id_prefix_taken: {
    status: 409,
    title: 'Prefix in use',
    detail:
      'Another source of this account has this prefix, so that their orders could not be told apart. Choose another one.',
  },
  id_prefix_fixed: {
    status: 409,
    title: 'Prefix fixed',
    detail:
      'This source has orders, which would arrive as new ones under another prefix. Its prefix can no longer be changed.',
  },
  endpoint_not_found: { status: 404, title: 'Endpoint not found', detail: 'This account has no such endpoint.' },
  too_many_endpoints: {
    status: 409,
    title: 'Too many endpoints',
    detail: 'This account has 10 endpoints. Remove one that is no longer used.',
  },
  signing_secrets_overlap: {
    status: 409,
    title: 'Two signing secrets verify',
    detail:
      'The previous secret still verifies. Wait until it expires, or rotate without an overlap, which ends both at once.',
  },
  queue_unavailable: {
    status: 503,
    title: 'Queue unavailable',
    detail: 'The queue is unavailable. No order is lost: orders wait in Postgres until it is back.',
  },
  user_elsewhere: {
    status: 409,
    title: 'User of another account or role',
    detail: 'Somebody with this address is a user of another account or role. Remove that user first.',
  },
  already_member: {
    status: 409,
    title: 'Already a member',
    detail: 'Somebody with this address is a member of this account. To change what they may do, change their role.',
  },
  last_owner: {
    status: 409,
    title: 'Last owner',
    detail: 'The account would be left without an owner. Make somebody else an owner first.',
  },
  own_user: {
    status: 409,
    title: 'Your own user',
    detail: 'You cannot do this to your own user; another operator can.',
  },
  own_request: {
    status: 409,
    title: 'Your own request',
    detail: 'You cannot approve what you requested yourself; another operator can.',
  },
  change_not_found: {
    status: 404,
    title: 'Change not found',
    detail: 'There is no open change with this id. It was decided, withdrawn, or has expired.',
  },
  user_not_found: { status: 404, title: 'User not found', detail: 'There is no such user.' },
  invalid_request: {
    status: 422,
    title: 'Invalid request',
    detail: 'The request breaks the rules listed in "errors".',
  },
  already_done: {
    status: 409,
    title: 'Already done',
    detail: 'This was sent before and is done. Reload the page to see it.',
  },
  outcome_unknown: {
    status: 409,
    title: 'Outcome unknown',
    detail: 'This was sent before, and it is not known whether it was done. Look, and send it again if it was not.',
  },
  conflicting_state: {
    status: 409,
    title: 'Conflicting state',
    detail: 'Its state no longer allows this. Reload it.',
  },
} as const satisfies Record<string, ProblemKind>;

export type PortalProblemCode = keyof typeof PORTAL_PROBLEMS;

const KINDS: Record<ProblemCode | PortalProblemCode, ProblemKind> = { ...PROBLEMS, ...PORTAL_PROBLEMS };

/** A broken rule: a pointer into the payload as sent (RFC 6901), a stable code, and what to do about it. */
export type FieldError = { pointer: string; code: string; detail: string };

type ProblemOptions = { detail?: string; errors?: FieldError[]; headers?: Record<string, string> };

/** An error response. It must not repeat what was sent. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode | PortalProblemCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: FieldError[];
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
    if (kind.headers || options.headers) this.headers = { ...kind.headers, ...options.headers };
  }
}
