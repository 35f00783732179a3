import { setTimeout as sleep } from 'node:timers/promises';
import { AuthenticationError, NotFoundError, OrdersError, ProblemError, TimeoutError } from '@orders/client';
import { Failure } from '../errors.ts';

/** Through which every request goes: closed by one that was told to wait, it holds all of them back. */
export interface RetryGate {
  /**
   * Asks until there is an answer. What passes is waited out: a rate limit or an overload for as long as the service says, a lost connection
   * or a service that restarts with growing pauses.
   *
   * @throws {Failure} when there was no success at all for too long, or will be none for so long by what the service says.
   */
  run<Reply>(request: () => Promise<Reply>): Promise<Reply>;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** A timer takes no more than 2^31 ms; a longer wait is one of several. */
const MAX_SLEEP_MS = 3_600_000;

/**
 * @param limits.giveUpAfterMs without an answer; at once, when it is told to wait until then.
 * @param onWait told with the milliseconds and the reason when all have to wait, and with null when an answer came and nothing has to wait any more.
 */
export function createRetryGate(
  { giveUpAfterMs, signal }: { giveUpAfterMs: number; signal: AbortSignal },
  onWait: (wait: { ms: number; why: string } | null) => void,
): RetryGate {
  let openAt = 0;
  let lastReplyAt = performance.now();
  // Of all requests together, since the last answer.
  let failures = 0;

  async function waitUntilOpen(): Promise<void> {
    for (let left = openAt - performance.now(); left > 0; left = openAt - performance.now())
      await sleep(Math.min(left, MAX_SLEEP_MS), undefined, { signal });
    signal.throwIfAborted();
  }

  function close(error: unknown): void {
    const why = reasonToWait(error);
    if (why === null) throw error;
    const now = performance.now();
    const backoffMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.75 + Math.random() / 2);
    const retryAfterMs = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const ms = retryAfterMs || backoffMs;
    const silentMs = now - lastReplyAt;
    if (silentMs + retryAfterMs > giveUpAfterMs) {
      const until = retryAfterMs > 0 ? `, and says to come back in ${Math.ceil(retryAfterMs / 1000)} s` : '';
      throw new Failure(`The service has taken nothing for ${Math.round(silentMs / 1000)} s: ${why}${until}.`);
    }
    // Those in flight together fail together, and count once.
    if (now >= openAt) failures = Math.min(failures + 1, 10);
    openAt = Math.max(openAt, now + ms);
    onWait({ ms: openAt - now, why });
  }

  return {
    async run(request) {
      for (;;) {
        await waitUntilOpen();
        try {
          const reply = await request();
          lastReplyAt = performance.now();
          failures = 0;
          // A request that was sent before the gate closed may be answered while it is closed.
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

/** Null for what waiting does not mend. */
function reasonToWait(error: unknown): string | null {
  if (!(error instanceof OrdersError) || !error.isRetryable) return null;
  if (error instanceof TimeoutError) return 'no reply in time';
  if (!(error instanceof ProblemError)) return `no connection${codeOf(error)}`;
  return error.status === 429 ? 'rate limit' : `the service answers ${error.status}`;
}

/** The platform's, such as ENOTFOUND for a name that there is none of, or that of a certificate which is not trusted. */
function codeOf({ cause }: OrdersError): string {
  const { code } = (cause as { cause?: { code?: unknown } } | undefined)?.cause ?? {};
  return typeof code === 'string' ? ` (${code})` : '';
}

/** An error of the client in one line: what it means for the whole run. */
export function endOfRun(error: unknown): unknown {
  if (!(error instanceof OrdersError)) return error;
  return new Failure(`The service refuses all of it ${describeClientError(error)}${adviceFor(error)}`);
}

/** What the client met, as it is said behind what it means. */
export function describeClientError(error: OrdersError): string {
  const status = error instanceof ProblemError ? `${error.status} ` : '';
  return `(${status}${error.code}): ${error.message}`;
}

/** What the sender has set wrongly, most likely. */
function adviceFor(error: OrdersError): string {
  if (error instanceof AuthenticationError)
    return ` See to ${/signature/.test(error.code) ? 'ORDERS_SIGNING_SECRET' : 'ORDERS_API_KEY'}.`;
  const isElsewhere = error instanceof NotFoundError || error.code === 'unexpected_reply';
  return isElsewhere ? ' See to ORDERS_URL: it must lead to the service.' : '';
}
