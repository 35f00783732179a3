import { backoffMs, onAbort, pause } from './abort.ts';
import { ConnectionError, OrdersError, ProblemError, TimeoutError } from './errors.ts';
import type { Connection } from './options.ts';
import { readReply, readText } from './reply.ts';
import type { ReadSuccess } from './successes.ts';
import { VERSION } from './version.ts';

/**
 * Sends one call, and repeats it unchanged until there is a final reply. All calls of this service are safe to repeat.
 */
export interface Call<Reply> {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  readSuccess: ReadSuccess<Reply>;
  /** The time for which the service was asked to hold the reply; 0 without a wait. */
  waitSeconds: number;
  /** For the whole call: all attempts and the pauses between them. */
  timeoutMs: number;
  maxRetries: number;
  signal?: AbortSignal | undefined;
}

/** Max delay of `setTimeout`; a longer one fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The share of the call's timeout for one attempt, so that a silent connection does not use up the whole timeout. */
const ATTEMPT_SHARE = 1 / 3;

/** The request of all attempts, and what happened so far. */
interface Attempt<Reply> extends Call<Reply> {
  requestId: string;
  startedAt: number;
  /** From 1. */
  number: number;
  /** Why the previous attempt failed. */
  previous?: OrdersError;
}

/**
 * @throws {OrdersError} when no retry is left or would be in time; the signal's reason after an abort.
 */
export async function call<Reply>(connection: Connection, request: Call<Reply>): Promise<Reply> {
  const { timeoutMs, maxRetries, signal, waitSeconds } = request;
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  const shareMs = (timeoutMs - waitSeconds * 1000) * ATTEMPT_SHARE;
  const attemptMs = shareMs + waitSeconds * 1000;
  const attempt: Attempt<Reply> = { ...request, requestId: crypto.randomUUID(), startedAt, number: 1 };
  for (; ; attempt.number++) {
    const leftMs = Math.max(0, deadline - performance.now());
    // All that is left, if no retry may follow or it would get less than a share.
    const isLast = attempt.number > maxRetries || leftMs - attemptMs < shareMs;
    try {
      const limitMs = Math.min(isLast ? leftMs : attemptMs, MAX_TIMER_MS);
      const { response, text } = await exchange(connection, attempt, limitMs);
      return readReply(response, text, { ...attempt, baseUrl: connection.baseUrl });
    } catch (error) {
      if (!(error instanceof OrdersError && error.isRetryable) || attempt.number > maxRetries) throw error;
      const pauseMs = backoffMs(attempt.number - 1) + requestedPauseMs(error);
      if (performance.now() + pauseMs >= deadline) throw error;
      attempt.previous = error;
      await pause(pauseMs, signal);
    }
  }
}

/** The pause that the service asked for with `Retry-After`, in milliseconds; 0 without one. */
export function requestedPauseMs(error: OrdersError): number {
  return ((error instanceof ProblemError && error.retryAfterSeconds) || 0) * 1000;
}

/** @throws {ConnectionError | TimeoutError} without a complete reply; the signal's reason after an abort. */
async function exchange(
  { baseUrl, apiKey, fetch }: Connection,
  attempt: Attempt<unknown>,
  timeoutMs: number,
): Promise<{ response: Response; text: string }> {
  const { method, path, headers, body, signal, requestId } = attempt;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const release = onAbort(signal, () => controller.abort(signal?.reason));
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...headers,
        Accept: 'application/json, application/problem+json',
        Authorization: `Bearer ${apiKey}`,
        'User-Agent': `orders-js/${VERSION}`,
        'X-Request-Id': requestId,
      },
      ...(body && { body }),
      redirect: 'manual',
      signal: controller.signal,
    });
    return { response, text: await readText(response) };
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) {
      const message = `Timed out after ${describeEffort(attempt)}: no reply.`;
      throw new TimeoutError(message, { requestId, cause: attempt.previous });
    }
    const message = `No reply from ${new URL(baseUrl).origin} after ${describeEffort(attempt)}: ${describe(error)}.`;
    throw new ConnectionError(message, { requestId, cause: error });
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** The time of the whole call so far, and the number of its attempts. */
function describeEffort({ startedAt, number }: Attempt<unknown>): string {
  return `${Math.round(performance.now() - startedAt)} ms and ${number} ${number === 1 ? 'attempt' : 'attempts'}`;
}

/** The platform's reason for a failed connection. Node reports it in the cause. */
function describe(error: unknown): string {
  const { cause, code, message } = (error ?? {}) as {
    cause?: { code?: string; message?: string };
    code?: string;
    message?: string;
  };
  return cause?.code ?? code ?? (cause?.message || message || 'the connection failed');
}
