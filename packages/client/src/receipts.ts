import { backoffMs, pause } from './abort.ts';
import { type Call, call } from './call.ts';
import { OrdersError, ProblemError, TimeoutError } from './errors.ts';
import { type Connection, preferWait } from './options.ts';
import { readReceipt } from './successes.ts';
import type { Receipt } from './types.ts';

/** `wait`: seconds for which the service may hold its reply. */
type Options = Pick<Call<Receipt>, 'timeoutMs' | 'maxRetries' | 'signal'> & { wait: number };

/** Asks for a receipt. @throws {TypeError} for an invalid id or wait; as `call`. */
export function requestReceipt(connection: Connection, receiptId: string, options: Options): Promise<Receipt> {
  if (typeof receiptId !== 'string' || !/^[\w-]{1,64}$/.test(receiptId)) {
    throw new TypeError('receiptId must be the receipt_id of an accepted order.');
  }
  const { wait, ...limits } = options;
  const [Prefer = ''] = preferWait(wait);
  const headers: Record<string, string> = wait > 0 ? { Prefer } : {};
  const path = `/ingest/status/${receiptId}`;
  return call(connection, { method: 'GET', path, headers, readSuccess: readReceipt, waitSeconds: wait, ...limits });
}

const FINAL: ReadonlySet<Receipt['status']> = new Set(['written', 'duplicate', 'dead']);
const MAX_WAIT_SECONDS = 30;
/** The share of the remaining time for one wait, so that its reply arrives in time. */
const WAIT_SHARE = 0.8;

/** Asks until the receipt is final. @throws {TimeoutError} after the timeout; its `receipt` is the last known state. */
export async function waitForReceipt(
  ask: (options: Options) => Promise<Receipt>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  const waited = () => `${Math.round(performance.now() - startedAt)} ms`;
  let receipt: Receipt | undefined;
  for (let early = 0; ; ) {
    const askedAt = performance.now();
    const leftMs = deadline - askedAt;
    const wait = Math.min(MAX_WAIT_SECONDS, Math.floor((leftMs * WAIT_SHARE) / 1000));
    try {
      receipt = await ask({ wait, timeoutMs: leftMs, maxRetries: Number.POSITIVE_INFINITY, signal });
    } catch (cause) {
      if (!(cause instanceof OrdersError && cause.isRetryable)) throw cause;
      const message = `Not known to be final after ${waited()}${describeLongPause(timeoutMs, cause)}.`;
      throw new TimeoutError(message, { requestId: cause.requestId, receipt, cause });
    }
    if (FINAL.has(receipt.status)) return receipt;
    // A service that drains, or has too many waits, replies early.
    const pauseMs = performance.now() - askedAt < wait * 1000 * WAIT_SHARE || wait === 0 ? backoffMs(early++) : 0;
    if (performance.now() + pauseMs >= deadline) {
      throw new TimeoutError(`Still "${receipt.status}" after ${waited()}.`, { receipt });
    }
    await pause(pauseMs, signal);
  }
}

/** Explains why the wait ended early: the service asked for a longer pause than the remaining time. */
function describeLongPause(timeoutMs: number, cause: OrdersError): string {
  const seconds = cause instanceof ProblemError ? (cause.retryAfterSeconds ?? 0) : 0;
  return seconds > 0 ? `: the service asks for a retry after ${seconds} s, and the timeout is ${timeoutMs} ms` : '';
}
