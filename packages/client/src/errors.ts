import type { Accepted, FieldError, Problem, ProblemCode, Receipt } from './types.ts';

interface Context {
  /** The id of the request in the service's log. */
  requestId?: string | undefined;
  cause?: unknown;
}

/** The error of a call. No error of this package contains a key, a secret or any data of an order. */
export class OrdersError extends Error {
  override readonly name: string = 'OrdersError';
  /**
   * A stable code: the `code` of the service's problem, or `connection_failed`, `timed_out`, `unexpected_reply`,
   * `payload_mismatch`, `verification_failed`.
   */
  readonly code: ProblemCode;
  /** Quote it when you report a problem: the service logs it. */
  readonly requestId?: string;

  constructor(message: string, { code, requestId, cause }: Context & { code: ProblemCode }) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (requestId !== undefined) this.requestId = requestId;
  }

  /**
   * Whether the same call may succeed later. This includes a 500, because a call that is repeated under its idempotency key
   * takes effect only once.
   */
  get isRetryable(): boolean {
    return false;
  }
}

interface Reply {
  status: number;
  retryAfterSeconds?: number | undefined;
  /** What the caller should check, to append to the message. */
  hint?: string | undefined;
}

/** The service could not be reached, or the connection broke before its reply was complete. */
export class ConnectionError extends OrdersError {
  override readonly name = 'ConnectionError';

  constructor(message: string, context: Context) {
    super(message, { ...context, code: 'connection_failed' });
  }

  override get isRetryable(): boolean {
    return true;
  }
}

/** The timeout ended before a reply arrived or, in `waitForReceipt`, before the receipt was final. */
export class TimeoutError extends OrdersError {
  override readonly name = 'TimeoutError';
  /** From `waitForReceipt`: the last known state of the receipt, if any. */
  readonly receipt?: Receipt;

  constructor(message: string, { receipt, ...context }: Context & { receipt?: Receipt | undefined }) {
    super(message, { ...context, code: 'timed_out' });
    if (receipt) this.receipt = receipt;
  }

  override get isRetryable(): boolean {
    return true;
  }
}

/**
 * The idempotency key was already used for other content. The first delivery has the receipt of the key. This delivery
 * is kept under a separate receipt.
 */
export class IdempotencyMismatchError extends OrdersError {
  override readonly name = 'IdempotencyMismatchError';
  /** The reply: its `receipt_id` is that of the first delivery under this key. */
  readonly accepted: Accepted;
  /**
   * The receipt of this delivery, for `getReceipt` and `waitForReceipt`. It ends as `duplicate` if both deliveries have
   * the same source_order_id, and otherwise as `dead` (`idempotency_key_reused`). Absent if an older service stored nothing.
   */
  readonly keptAs?: string;

  constructor(accepted: Accepted, context: Context) {
    super(mismatchMessage(accepted.kept_as), { ...context, code: 'payload_mismatch' });
    this.accepted = accepted;
    if (accepted.kept_as !== undefined) this.keptAs = accepted.kept_as;
  }
}

function mismatchMessage(keptAs: string | undefined): string {
  const used = 'This idempotency key was used before with other content.';
  if (keptAs === undefined) return `${used} Nothing of this delivery is stored: send it under another key.`;
  return (
    `${used} This delivery is kept as receipt ${keptAs}. A changed order (same source_order_id) needs nothing more: the ` +
    'receipt ends as a duplicate that lists the changes. Another order (another source_order_id) is not created: the ' +
    'receipt is dead (idempotency_key_reused). Send that order under another key, or redrive the receipt.'
  );
}

/** From `verifyEvent`: the request is not a recent, correctly signed event. */
export class VerificationError extends OrdersError {
  override readonly name = 'VerificationError';

  constructor(message: string) {
    super(message, { code: 'verification_failed' });
  }
}

/** The service replied with an error. */
export class ProblemError extends OrdersError {
  override readonly name: string = 'ProblemError';
  /** The HTTP status of the reply. */
  readonly status: number;
  /**
   * The problem as received (RFC 9457). For a reply from elsewhere, such as a proxy, a substitute with the code
   * `unexpected_reply`.
   */
  readonly problem: Problem;
  /** The time until the next attempt, if the reply states it. */
  readonly retryAfterSeconds?: number;

  constructor(problem: Problem, { status, retryAfterSeconds, hint }: Reply) {
    super(messageOf(problem, hint), { code: problem.code, requestId: problem.request_id });
    this.status = status;
    this.problem = problem;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }

  override get isRetryable(): boolean {
    return [408, 429].includes(this.status) || this.status >= 500;
  }
}

/** 401: the API key or the signature is missing or wrong. */
export class AuthenticationError extends ProblemError {
  override readonly name = 'AuthenticationError';
}

/** 403: the account is suspended, or signing is not enabled for it. */
export class PermissionError extends ProblemError {
  override readonly name = 'PermissionError';
}

/** 404: the account has no such receipt, or `baseUrl` is wrong. */
export class NotFoundError extends ProblemError {
  override readonly name = 'NotFoundError';
}

/** 400, 405, 413, 415 and any other 4xx without its own class: the service cannot read the request. */
export class InvalidRequestError extends ProblemError {
  override readonly name = 'InvalidRequestError';
}

/** 410: events after the cursor were removed because of their age. Start again without a cursor, and look up the orders. */
export class CursorExpiredError extends ProblemError {
  override readonly name = 'CursorExpiredError';
}

/** 421: another installation of the service has the account. Set `baseUrl` to `installationUrl`; a retry does not help. */
export class WrongInstallationError extends ProblemError {
  override readonly name = 'WrongInstallationError';

  /** The base URL of that installation. */
  get installationUrl(): string | undefined {
    return this.problem.installation_url;
  }
}

/** 422: the order breaks rules; `errors` lists them. */
export class ValidationError extends ProblemError {
  override readonly name = 'ValidationError';

  /** Each broken rule, with a pointer (RFC 6901) into the order as sent. */
  get errors(): FieldError[] {
    return this.problem.errors ?? [];
  }
}

/** 429: the account exceeds its rate limit. */
export class RateLimitError extends ProblemError {
  override readonly name = 'RateLimitError';
}

/** 503: the service cannot accept requests at the moment. */
export class UnavailableError extends ProblemError {
  override readonly name = 'UnavailableError';
}

/** Any other 5xx. */
export class ServerError extends ProblemError {
  override readonly name = 'ServerError';
}

const BY_STATUS: Record<number, typeof ProblemError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  422: ValidationError,
  429: RateLimitError,
  503: UnavailableError,
};

/** Creates an error of the class for this status. */
export function problemError(problem: Problem, reply: Reply): ProblemError {
  const { status } = reply;
  // By their codes: a 410 of a proxy says nothing about the cursor, nor a 421 about the account.
  if (problem.code === 'cursor_expired') return new CursorExpiredError(problem, reply);
  if (problem.code === 'wrong_installation') return new WrongInstallationError(problem, reply);
  const ByRange = status >= 500 ? ServerError : status >= 400 ? InvalidRequestError : ProblemError;
  return new (BY_STATUS[status] ?? ByRange)(problem, reply);
}

const MAX_ERRORS_IN_MESSAGE = 3;

function messageOf({ detail, errors = [] }: Problem, hint: string | undefined): string {
  const shown = errors.slice(0, MAX_ERRORS_IN_MESSAGE).map((error) => ` ${error.pointer}: ${error.detail}`);
  const more = errors.length > MAX_ERRORS_IN_MESSAGE ? ` And ${errors.length - MAX_ERRORS_IN_MESSAGE} more.` : '';
  return `${detail}${shown.join('')}${more}${hint ? ` ${hint}` : ''}`;
}
