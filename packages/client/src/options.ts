/** Where the service is, and who calls it. */
export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
}

export interface ClientOptions {
  /** Where the service is, such as `https://orders.example.com`; a prefix of its routes belongs to it. */
  baseUrl: string;
  /** `oik_…`, of the account that the orders are for. */
  apiKey: string;
  /** `oss_…`, for `sendWebhook`. */
  signingSecret?: string | undefined;
  /**
   * For a whole call, with its retries and the pauses between them, in milliseconds: 30,000 unless said. An attempt gets
   * a third of it. The seconds of `wait` come on top of both.
   */
  timeoutMs?: number | undefined;
  /** How often a call is sent again at most: 5 unless said. */
  maxRetries?: number | undefined;
  /** In place of the platform's own, for a proxy or a test. */
  fetch?: typeof fetch | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call at once; it then throws the signal's reason. What was sent by then may have arrived. */
  signal?: AbortSignal | undefined;
  /** As in the options of the client, for this call. */
  timeoutMs?: number | undefined;
  /** As in the options of the client, for this call. */
  maxRetries?: number | undefined;
}

/** How a call that sends orders sends them. */
export interface SubmitOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; a new UUID unless said. Give your own where the same order may be sent again by
   * another call, after a crash for instance.
   */
  idempotencyKey?: string | undefined;
  /** Have the order rejected with a `ValidationError` where it would be corrected with a warning. */
  strict?: boolean | undefined;
  /** Max seconds, at most 30, that the service waits for the outcome of the order before it replies. */
  wait?: number | undefined;
}

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
  return {
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    apiKey,
    fetch: own ?? ((...input) => globalThis.fetch(...input)),
  };
}

/** @throws {TypeError} for what is no time or number of retries. */
export function readLimits(
  { timeoutMs, maxRetries }: CallOptions,
  defaults: { timeoutMs: number; maxRetries: number },
) {
  const limits = { timeoutMs: timeoutMs ?? defaults.timeoutMs, maxRetries: maxRetries ?? defaults.maxRetries };
  if (!(limits.timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0.');
  if (!(limits.maxRetries >= 0)) throw new TypeError('maxRetries must be a number from 0.');
  return limits;
}

/** The headers that `SubmitOptions` stand for. */
export function headersOf({
  idempotencyKey = crypto.randomUUID(),
  strict,
  wait,
}: SubmitOptions): Record<string, string> {
  mustBeKey(idempotencyKey);
  const preferences = [...(strict ? ['handling=strict'] : []), ...preferWait(wait)];
  return { 'Idempotency-Key': idempotencyKey, ...(preferences.length > 0 && { Prefer: preferences.join(', ') }) };
}

/** Not even `null` stands for none: all orders that were sent with it would have the same key, `"null"`. */
export function mustBeKey(key: unknown): asserts key is string {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new TypeError('idempotencyKey must be a string of 1 to 255 visible ASCII characters.');
  }
}

/** @throws {TypeError} for what is no time to wait. */
export function preferWait(wait: number | undefined): string[] {
  if (wait === undefined) return [];
  if (!(wait >= 0 && wait <= 30)) throw new TypeError('wait must be a number of seconds from 0 to 30.');
  return [`wait=${Math.floor(wait)}`];
}
