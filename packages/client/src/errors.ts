import type { Accepted, FieldError, Problem, ProblemCode, Receipt } from './types.ts';

interface Context {
  /** The id by which the service logged the request. */
  requestId?: string | undefined;
  cause?: unknown;
}

/** What went wrong with a call. No error of this package holds a key, a secret, or anything of an order. */
export class OrdersError extends Error {
  override readonly name: string = 'OrdersError';
  /**
   * Stable: the `code` of the service's problem, or `connection_failed`, `timed_out`, `unexpected_reply`,
   * `payload_mismatch`.
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
   * Whether the same call may succeed later. A 500 counts: what was asked for happens once, however often it is asked
   * for under its idempotency key.
   */
  get isRetryable(): boolean {
    return false;
  }
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

/** The time was up before there was a reply, or, from `waitForReceipt`, before the receipt was final. */
export class TimeoutError extends OrdersError {
  override readonly name = 'TimeoutError';
  /** From `waitForReceipt`: the receipt as it was seen last, if it was seen. */
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
 * The idempotency key was used before with other content. The first delivery has the receipt of the key; this one is
 * kept as a receipt of its own.
 */
export class IdempotencyMismatchError extends OrdersError {
  override readonly name = 'IdempotencyMismatchError';
  /** The reply: its `receipt_id` is that of the first delivery under this key. */
  readonly accepted: Accepted;
  /**
   * The receipt of this delivery, for `getReceipt` and `waitForReceipt`. It ends as `duplicate` where both deliveries have
   * one source_order_id, else as `dead` (`idempotency_key_reused`). Absent where an older service stored nothing of it.
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
    `${used} This delivery is kept as receipt ${keptAs}. With the same source_order_id it ends as a duplicate that lists ` +
    'its changes. With another source_order_id it is dead (idempotency_key_reused): no order is made until it is redriven, ' +
    'or sent under a key of its own.'
  );
}

/** The service replied with an error. */
export class ProblemError extends OrdersError {
  override readonly name: string = 'ProblemError';
  /** Of the HTTP reply. */
  readonly status: number;
  /**
   * The problem as received (RFC 9457). If the reply is not from the service, such as a proxy's, a substitute with the code
   * `unexpected_reply`.
   */
  readonly problem: Problem;
  /** When to come back, if the reply said so. */
  readonly retryAfterSeconds?: number;

  constructor(
    problem: Problem,
    { status, retryAfterSeconds }: { status: number; retryAfterSeconds?: number | undefined },
  ) {
    super(messageOf(problem), { code: problem.code, requestId: problem.request_id });
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

/** 404: the account has no such receipt, or `baseUrl` leads elsewhere. */
export class NotFoundError extends ProblemError {
  override readonly name = 'NotFoundError';
}

/** 400, 405, 413, 415 and any other 4xx that has no class of its own: the request is not one that the service can read. */
export class InvalidRequestError extends ProblemError {
  override readonly name = 'InvalidRequestError';
}

/** 422: the order breaks a rule; `errors` says which and where. */
export class ValidationError extends ProblemError {
  override readonly name = 'ValidationError';

  /** Each broken rule, with a pointer (RFC 6901) into the order as it was sent. */
  get errors(): FieldError[] {
    return this.problem.errors ?? [];
  }
}

/** 429: the account sends faster than its rate allows. */
export class RateLimitError extends ProblemError {
  override readonly name = 'RateLimitError';
}

/** 503: the service cannot take anything at the moment. */
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

/** The error of the class that this status has. */
export function problemError(status: number, problem: Problem, retryAfterSeconds?: number): ProblemError {
  const ByRange = status >= 500 ? ServerError : status >= 400 ? InvalidRequestError : ProblemError;
  return new (BY_STATUS[status] ?? ByRange)(problem, { status, retryAfterSeconds });
}

const SHOWN = 3;

function messageOf({ detail, errors = [] }: Problem): string {
  const shown = errors.slice(0, SHOWN).map((error) => ` ${error.pointer}: ${error.detail}`);
  return `${detail}${shown.join('')}${errors.length > SHOWN ? ` And ${errors.length - SHOWN} more.` : ''}`;
}
