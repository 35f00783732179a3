/** The address of the service and the credentials of the caller. */
export interface Connection {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
}

export interface ClientOptions {
  /** The address of the service, such as `https://orders.example.com`, including the prefix of its routes if there is one. */
  baseUrl: string;
  /** The API key (`oik_…`) of the account that receives the orders. */
  apiKey: string;
  /** The signing secret (`oss_…`) for `sendWebhook`. */
  signingSecret?: string | undefined;
  /**
   * The timeout of a whole call with its retries and pauses, in milliseconds (default 30,000). An attempt gets a third of
   * it, the last one all that is left: without retries, the whole time. The seconds of `wait` are added.
   */
  timeoutMs?: number | undefined;
  /** Max number of retries of a call (default 5). */
  maxRetries?: number | undefined;
  /** Replaces the platform's `fetch`, for a proxy or a test. */
  fetch?: typeof fetch | undefined;
}

/** The options of every call. */
export interface CallOptions {
  /** Ends the call at once with the signal's reason. A request that was already sent may have arrived. */
  signal?: AbortSignal | undefined;
  /** As in the options of the client, for this call. */
  timeoutMs?: number | undefined;
  /** As in the options of the client, for this call. */
  maxRetries?: number | undefined;
}

/** The options of calls that cancel orders. */
export interface CancelOptions extends CallOptions {
  /** `webhook` signs the request, as `sendWebhook` does (default `rest`). */
  via?: 'rest' | 'webhook' | undefined;
  /** For webhooks, replaces the client's secret. */
  signingSecret?: string | undefined;
}

/** The options of calls that send orders. */
export interface SubmitOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters (default: SHA-256 of the bytes that are sent, so that the same order, sent again
   * after a crash, is accepted once). Set your own key for an order that goes back to an earlier version: with the key of
   * that one it would not be read again.
   */
  idempotencyKey?: string | undefined;
  /** Rejects an order with a `ValidationError` instead of correcting it with a warning. */
  strict?: boolean | undefined;
  /** Max seconds, at most 30, that the service waits for the outcome of the order before it replies. */
  wait?: number | undefined;
}

/** The options of `events`. */
export interface EventsOptions {
  /**
   * Continues after this `next` of a page, or `sequence` of an event; `newest` skips all stored events (default: from the
   * oldest stored event).
   */
  after?: string | number | null | undefined;
  /** Ends the loop at once with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The options of `getEvents`. */
export interface EventPageOptions extends EventsOptions, CallOptions {
  /** Max events of the page, at most 1,000 (default 100). */
  limit?: number | undefined;
  /** Max seconds, at most 30, that the service waits for an event before it replies with an empty page. */
  wait?: number | undefined;
}

/** A route of the service at the end of an address, as copied from a guide or the portal. */
const ROUTE = /(\/ingest\/(?:orders|webhook|preview|reconcile|sources|status|events))(?:\/|$)/;

/** Reads the options of the client. Errors never contain a value of an option. */
export function readConnection({ baseUrl, apiKey, fetch: own }: ClientOptions): Connection {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key of your account ("oik_…"), without spaces or line breaks.');
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(
      'baseUrl must be an address such as "https://orders.example.com", without a user, query or hash.',
    );
  }
  const [, route] = ROUTE.exec(url.pathname) ?? [];
  if (route) throw new TypeError(`baseUrl must be the address of the service without a route: leave out "${route}".`);
  return {
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    apiKey,
    fetch: own ?? ((...input) => globalThis.fetch(...input)),
  };
}

/** @throws {TypeError} for an invalid time or number of retries. */
export function readLimits(
  { timeoutMs, maxRetries }: CallOptions,
  defaults: { timeoutMs: number; maxRetries: number },
) {
  const limits = { timeoutMs: timeoutMs ?? defaults.timeoutMs, maxRetries: maxRetries ?? defaults.maxRetries };
  if (!(limits.timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0.');
  if (!(limits.maxRetries >= 0)) throw new TypeError('maxRetries must be a number from 0.');
  return limits;
}

const CALL_OPTIONS = ['signal', 'timeoutMs', 'maxRetries'];
const SUBMIT_OPTIONS = [...CALL_OPTIONS, 'idempotencyKey', 'strict', 'wait'];
/** The names of the options of each call. */
export const OPTIONS = {
  client: ['baseUrl', 'apiKey', 'signingSecret', 'timeoutMs', 'maxRetries', 'fetch'],
  call: CALL_OPTIONS,
  submit: SUBMIT_OPTIONS,
  batch: SUBMIT_OPTIONS.filter((name) => name !== 'wait'),
  many: [...SUBMIT_OPTIONS, 'signingSecret', 'concurrency', 'via'],
  receipt: [...CALL_OPTIONS, 'wait'],
  wait: ['signal', 'timeoutMs'],
  page: [...CALL_OPTIONS, 'after', 'limit', 'wait'],
  events: ['signal', 'after'],
};

/** A misspelled option would be passed over. @throws {TypeError} for an option that does not exist. */
export function assertKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no option "${unknown}", only ${known.join(', ')}.`);
}

/** The request headers for `SubmitOptions`. @param contentKey the idempotency key that follows from the body. */
export function headersOf(contentKey: string, options: SubmitOptions): Record<string, string> {
  const { idempotencyKey = contentKey, strict, wait } = options;
  assertIdempotencyKey(idempotencyKey);
  const preferences = [...(strict ? ['handling=strict'] : []), ...preferWait(wait)];
  return { 'Idempotency-Key': idempotencyKey, ...(preferences.length > 0 && { Prefer: preferences.join(', ') }) };
}

/** Rejects `null` too, because all orders sent with it would have the same key, `"null"`. */
export function assertIdempotencyKey(key: unknown): asserts key is string {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new TypeError('idempotencyKey must be a string of 1 to 255 visible ASCII characters.');
  }
}

/** @throws {TypeError} for an invalid wait. */
export function preferWait(wait: number | undefined): string[] {
  if (wait === undefined) return [];
  if (!(wait >= 0 && wait <= 30)) throw new TypeError('wait must be a number of seconds from 0 to 30.');
  return [`wait=${Math.ceil(wait)}`];
}

export function assertVia(via: unknown): asserts via is 'rest' | 'webhook' {
  if (via !== 'rest' && via !== 'webhook') throw new TypeError('via must be "rest" or "webhook".');
}
