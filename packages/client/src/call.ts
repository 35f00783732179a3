import { onAbort } from './abort.ts';
import { ConnectionError, OrdersError, ProblemError, TimeoutError } from './errors.ts';
import type { Connection } from './options.ts';
import { backoffMs, MAX_TIMER_MS, pause } from './pause.ts';
import { readReply, readText } from './reply.ts';
import type { ReadSuccess } from './successes.ts';

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

/** The share of the call's timeout for one attempt, so that a silent connection does not use up the whole timeout. */
const ATTEMPT_SHARE = 1 / 3;

/**
 * @throws {OrdersError} when no retry is left or would be in time; the signal's reason after an abort.
 */
export async function call<Reply>(connection: Connection, request: Call<Reply>): Promise<Reply> {
  const { timeoutMs, maxRetries, signal, waitSeconds } = request;
  const deadline = performance.now() + timeoutMs;
  const headers = { ...request.headers, 'X-Request-Id': crypto.randomUUID() };
  const attemptMs = (timeoutMs - waitSeconds * 1000) * ATTEMPT_SHARE + waitSeconds * 1000;
  for (let retries = 0; ; retries++) {
    const leftMs = Math.max(0, deadline - performance.now());
    try {
      return await attempt(connection, { ...request, headers }, Math.min(attemptMs, leftMs, MAX_TIMER_MS));
    } catch (error) {
      if (!(error instanceof OrdersError && error.isRetryable) || retries >= maxRetries) throw error;
      const pauseMs = backoffMs(retries) + askedPauseMs(error);
      if (performance.now() + pauseMs >= deadline) throw error;
      await pause(pauseMs, signal);
    }
  }
}

function askedPauseMs(error: OrdersError): number {
  return ((error instanceof ProblemError && error.retryAfterSeconds) || 0) * 1000;
}

async function attempt<Reply>(
  connection: Connection,
  request: Call<Reply> & { headers: { 'X-Request-Id': string } },
  timeoutMs: number,
): Promise<Reply> {
  const { response, text } = await exchange(connection, request, timeoutMs);
  return readReply(response, text, request.readSuccess, request.headers['X-Request-Id']);
}

/** @throws {ConnectionError | TimeoutError} without a complete reply; the signal's reason after an abort. */
async function exchange(
  { baseUrl, apiKey, fetch }: Connection,
  { method, path, headers, body, signal }: Call<unknown> & { headers: { 'X-Request-Id': string } },
  timeoutMs: number,
): Promise<{ response: Response; text: string }> {
  signal?.throwIfAborted();
  const requestId = headers['X-Request-Id'];
  const controller = new AbortController();
  const release = onAbort(signal, () => controller.abort(signal?.reason));
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, Accept: 'application/json, application/problem+json', Authorization: `Bearer ${apiKey}` },
      ...(body && { body }),
      redirect: 'manual',
      signal: controller.signal,
    });
    return { response, text: await readText(response) };
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) {
      throw new TimeoutError(`No reply within ${Math.round(timeoutMs)} ms.`, { requestId });
    }
    const message = `No reply from ${new URL(baseUrl).origin}: ${describe(error)}.`;
    throw new ConnectionError(message, { requestId, cause: error });
  } finally {
    clearTimeout(timer);
    release();
  }
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
