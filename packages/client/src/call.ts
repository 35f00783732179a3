import { ConnectionError, OrdersError, ProblemError, TimeoutError } from './errors.ts';
import { backoffMs, LONGEST_MS, pause } from './pause.ts';
import { readReply } from './reply.ts';

/** Where the service is, and who calls it. */
export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
}

/** One call: sent again, exactly as it is, until there is a reply that stands. Every one of this service can be repeated without harm. */
export interface Call {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /** A member that the object of its success has. */
  member: string;
  /** For how long the service was asked to hold the reply; 0 if it was not. */
  waitSeconds: number;
  /** For all of it: every attempt, and the pauses between them. */
  timeoutMs: number;
  maxRetries: number;
  signal?: AbortSignal | undefined;
}

/** An attempt may take this part of the call's time, so that a connection that went silent does not use up all of it. */
const PART_OF_ATTEMPT = 1 / 3;

/**
 * @throws {OrdersError} once no retry is left or would come in time; the signal's reason after an abort.
 */
export async function call(connection: Connection, request: Call): Promise<object> {
  const { timeoutMs, maxRetries, signal, waitSeconds } = request;
  const deadline = performance.now() + timeoutMs;
  const headers = { ...request.headers, 'X-Request-Id': crypto.randomUUID() };
  const attemptMs = (timeoutMs - waitSeconds * 1000) * PART_OF_ATTEMPT + waitSeconds * 1000;
  for (let retries = 0; ; retries++) {
    const leftMs = Math.max(0, deadline - performance.now());
    try {
      return await attempt(connection, { ...request, headers }, Math.min(attemptMs, leftMs, LONGEST_MS));
    } catch (error) {
      if (!isPassing(error) || retries >= maxRetries) throw error;
      const pauseMs = backoffMs(retries) + askedPauseMs(error);
      if (performance.now() + pauseMs >= deadline) throw error;
      await pause(pauseMs, signal);
    }
  }
}

/** Whether the same call may succeed later. A 500 counts: what it asked for happens once, however often it is asked for. */
export function isPassing(error: unknown): error is OrdersError {
  if (error instanceof ProblemError) return [408, 429].includes(error.status) || error.status >= 500;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

function askedPauseMs(error: OrdersError): number {
  return ((error instanceof ProblemError && error.retryAfterSeconds) || 0) * 1000;
}

async function attempt(
  { baseUrl, apiKey, fetch }: Connection,
  { method, path, headers, body, member, signal }: Call & { headers: { 'X-Request-Id': string } },
  timeoutMs: number,
): Promise<object> {
  signal?.throwIfAborted();
  const requestId = headers['X-Request-Id'];
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, Accept: 'application/json, application/problem+json', Authorization: `Bearer ${apiKey}` },
      ...(body && { body }),
      redirect: 'manual',
      signal: controller.signal,
    });
    return await readReply(response, member, requestId);
  } catch (error) {
    if (error instanceof OrdersError) throw error;
    signal?.throwIfAborted();
    if (controller.signal.aborted) {
      throw new TimeoutError(`No reply within ${Math.round(timeoutMs)} ms.`, { requestId });
    }
    const message = `No reply from ${new URL(baseUrl).origin}: ${describe(error)}.`;
    throw new ConnectionError(message, { requestId, cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** What the platform says of a failed connection; Node has the reason in the cause. */
function describe(error: unknown): string {
  const { cause, code, message } = error as {
    cause?: { code?: string; message?: string };
    code?: string;
    message?: string;
  };
  return cause?.code ?? code ?? (cause?.message || message || 'the connection failed');
}
