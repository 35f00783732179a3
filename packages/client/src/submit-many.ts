import { onAbort } from './abort.ts';
import { OrdersError, ProblemError } from './errors.ts';
import { assertIdempotencyKey, type SubmitOptions } from './options.ts';
import type { Accepted } from './types.ts';

export interface SubmitManyOptions<T> extends Omit<SubmitOptions, 'idempotencyKey'> {
  /** Max orders in flight (default 8). */
  concurrency?: number | undefined;
  /** The call that sends each order: `submitOrder` (default) or `sendWebhook`. */
  via?: 'rest' | 'webhook' | undefined;
  /** For webhooks, replaces the client's secret. */
  signingSecret?: string | undefined;
  /** Returns the idempotency key of an order, if another call may send the same input again. */
  idempotencyKey?: ((order: T, index: number) => string) | undefined;
}

/** An error of the service or the connection, or a TypeError without a code for an order that cannot be sent. */
export type SubmitError = OrdersError | (TypeError & { code?: undefined; isRetryable?: undefined });

/** The outcome of one order: accepted, or an error. */
export type Submitted<T> =
  | { index: number; order: T; accepted: Accepted; error?: undefined }
  | { index: number; order: T; accepted?: undefined; error: SubmitError };

interface State {
  /** Whether the input may have more orders. */
  isOpen: boolean;
  isReading: boolean;
  /** The numbers of orders in flight and of orders read. */
  inFlight: number;
  count: number;
  /** Thrown after the results before it are taken. */
  failure: { error: unknown } | null;
}

type Submit<T> = (order: T, options: SubmitOptions) => Promise<Accepted>;

/** Statuses that every order would get, because the key, the account or the address is wrong. */
const FATAL_STATUSES = [401, 403, 404, 405, 421];

/** Whether an error concerns only its order. Errors in the caller's code and replies from elsewhere concern all orders. */
function isOrderError(error: unknown): error is SubmitError {
  if (error instanceof ProblemError) return !FATAL_STATUSES.includes(error.status);
  return error instanceof OrdersError ? error.code !== 'unexpected_reply' : error instanceof TypeError;
}

/** The platform's message would quote a string, which may be an order. */
function iteratorOf<T>(orders: Iterable<T> | AsyncIterable<T>): Iterator<T> | AsyncIterator<T> {
  const all = Object(orders) as Partial<Iterable<T> & AsyncIterable<T>>;
  const input = typeof orders === 'string' ? null : (all[Symbol.asyncIterator]?.() ?? all[Symbol.iterator]?.());
  if (!input) throw new TypeError('orders must be a list or a stream of orders: any iterable or async iterable.');
  return input;
}

/**
 * Submits orders, several at a time. Each is retried until its timeout, without a limit of attempts.
 *
 * @returns results as they arrive. At most `concurrency` orders are read ahead of the results that were taken.
 */
export async function* submitMany<T>(
  submit: Submit<T>,
  orders: Iterable<T> | AsyncIterable<T>,
  { concurrency = 8, via: _, idempotencyKey, signal, ...options }: SubmitManyOptions<T>,
): AsyncGenerator<Submitted<T>, void, undefined> {
  if (!(concurrency >= 1)) throw new TypeError('concurrency must be a number from 1.');
  if (idempotencyKey !== undefined && typeof idempotencyKey !== 'function') {
    throw new TypeError('idempotencyKey must be a function that returns the key of each order.');
  }
  const input = iteratorOf(orders);
  const results: Submitted<T>[] = [];
  const state: State = { isOpen: true, isReading: false, inFlight: 0, count: 0, failure: null };
  let wake = () => {};
  const woken = () => new Promise<void>((resolve) => (wake = resolve));

  async function readOne(): Promise<void> {
    state.isReading = true;
    try {
      const { done, value } = await input.next();
      if (done) state.isOpen = false;
      else if (!leaving.signal.aborted) void sendOne(value, state.count++);
    } catch (error) {
      state.isOpen = false;
      state.failure ??= { error };
    }
    state.isReading = false;
    wake();
  }

  async function sendOne(order: T, index: number): Promise<void> {
    state.inFlight++;
    try {
      const all = { maxRetries: Number.POSITIVE_INFINITY, ...options, ...keyOf(order, index), signal: leaving.signal };
      results.push({ index, order, accepted: await submit(order, all) });
    } catch (error) {
      if (isOrderError(error)) results.push({ index, order, error });
      else state.failure ??= { error };
    }
    state.inFlight--;
    wake();
  }

  function keyOf(order: T, index: number): { idempotencyKey: string } | undefined {
    const key = idempotencyKey?.(order, index);
    // Without a key the order would get a random one, which no other call could repeat.
    if (idempotencyKey) assertIdempotencyKey(key);
    return key === undefined ? undefined : { idempotencyKey: key };
  }

  const leaving = new AbortController();
  const leave = () => {
    leaving.abort(signal?.reason);
    wake();
  };
  const release = onAbort(signal, leave);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const mayRead = state.isOpen && !state.failure && !state.isReading;
      if (mayRead && state.inFlight + results.length < concurrency) void readOne();
      const result = results.shift();
      if (result) yield result;
      else if (state.inFlight > 0 || state.isReading) await woken();
      else if (state.failure) throw state.failure.error;
      else if (!state.isOpen) return;
    }
  } finally {
    release();
    leave();
    // During a read the close is not awaited, because it waits for that read, which may never end.
    const closing = state.isOpen ? input.return?.() : undefined;
    if (state.isReading) Promise.resolve(closing).catch(() => undefined);
    else await closing;
    while (state.inFlight > 0) await woken();
  }
}
