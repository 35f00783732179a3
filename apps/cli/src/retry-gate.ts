import { setTimeout as sleep } from 'node:timers/promises';
import {
  AuthenticationError,
  NotFoundError,
  type OrdersClient,
  OrdersError,
  ProblemError,
  TimeoutError,
  WrongInstallationError,
} from '@orders/client';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import { Failure } from './errors.ts';

/** What requests to the service are made with. */
export interface Session {
  client: OrdersClient;
  gate: RetryGate;
  /** Aborted when the run ends. */
  signal: AbortSignal;
}

const BACKOFF = { base: 250, cap: 5_000, jitter: [0.75, 1.25] } as const;

/** All requests pass this gate. If one of them must wait, the gate closes for all. */
export type RetryGate = ReturnType<typeof createRetryGate>;

/**
 * @param limits.giveUpAfterMs max time without a success; also exceeded if `Retry-After` goes beyond it.
 * @param onWait called with milliseconds and reason when all requests must wait, and with null when the gate is open again.
 */
export function createRetryGate(
  { giveUpAfterMs, signal }: { giveUpAfterMs: number; signal: AbortSignal },
  onWait: (wait: { ms: number; why: string } | null) => void,
) {
  let openAt = 0;
  let lastReplyAt = performance.now();
  // Of all requests, since the last success.
  let failures = 0;

  async function waitUntilOpen(): Promise<void> {
    for (let left = openAt - performance.now(); left > 0; left = openAt - performance.now())
      await sleep(left, undefined, { signal });
    signal.throwIfAborted();
  }

  function close(error: unknown): void {
    const why = reasonToWait(error);
    if (why === null) throw error;
    const now = performance.now();
    const retryAfterMs = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const ms = retryAfterMs || backoff(failures, BACKOFF);
    const silentMs = now - lastReplyAt;
    if (silentMs + retryAfterMs > giveUpAfterMs) {
      const until = retryAfterMs > 0 ? `, Retry-After is ${Math.ceil(retryAfterMs / 1000)} s` : '';
      throw new Failure(`No request has succeeded for ${Math.round(silentMs / 1000)} s: ${why}${until}.`);
    }
    // Requests that were in flight together fail together and count once.
    if (now >= openAt) failures = Math.min(failures + 1, 10);
    openAt = Math.max(openAt, now + ms);
    onWait({ ms: openAt - now, why });
  }

  return {
    /**
     * Repeats a request until it succeeds or fails permanently. Waits out temporary errors: a rate limit or an overload as long as
     * `Retry-After` says, others with exponential backoff.
     *
     * @throws {Failure} if no request has succeeded for too long, or none can until then according to `Retry-After`.
     */
    async run<Reply>(request: () => Promise<Reply>): Promise<Reply> {
      for (;;) {
        await waitUntilOpen();
        try {
          const reply = await request();
          lastReplyAt = performance.now();
          failures = 0;
          // A request from before the gate closed may succeed while it is closed.
          if (lastReplyAt >= openAt) onWait(null);
          return reply;
        } catch (error) {
          signal.throwIfAborted();
          close(error);
        }
      }
    },
  };
}

/** Null for errors that do not pass by waiting. */
function reasonToWait(error: unknown): string | null {
  if (!(error instanceof OrdersError) || !error.isRetryable) return null;
  if (error instanceof TimeoutError) return 'no reply in time';
  if (!(error instanceof ProblemError)) return `no connection${codeOf(error)}`;
  return error.status === 429 ? 'rate limit' : `the service answers ${error.status}`;
}

/** The platform's error code, such as ENOTFOUND for an unknown host, or that of an untrusted certificate. */
function codeOf({ cause }: OrdersError): string {
  const { code } = (cause as { cause?: { code?: unknown } } | undefined)?.cause ?? {};
  return typeof code === 'string' ? ` (${code})` : '';
}

/** A client error that ends the run, as one line. */
export function endOfRun(error: unknown): unknown {
  if (!(error instanceof OrdersError)) return error;
  return new Failure(`The service rejects all requests ${describeClientError(error)}${adviceFor(error)}`);
}

/** The error's status, code and message, to append to a sentence. */
export function describeClientError(error: OrdersError): string {
  const status = error instanceof ProblemError ? `${error.status} ` : '';
  return `(${status}${error.code}): ${error.message}`;
}

/** The setting that is most likely wrong. */
function adviceFor(error: OrdersError): string {
  if (error instanceof AuthenticationError)
    return ` Check ${/signature/.test(error.code) ? 'ORDERS_SIGNING_SECRET' : 'ORDERS_API_KEY'}.`;
  // Without its scheme, as addresses are removed from messages.
  if (error instanceof WrongInstallationError)
    return ` Set ORDERS_URL to the one at ${error.installationUrl?.replace(/^\w+:\/\//, '')}.`;
  const isElsewhere = error instanceof NotFoundError || error.code === 'unexpected_reply';
  return isElsewhere ? ' Check ORDERS_URL: it must be the address of the service.' : '';
}
