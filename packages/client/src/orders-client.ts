import { toLines } from './batch.ts';
import { bytesOf } from './bytes.ts';
import { type Call, call } from './call.ts';
import { OrdersError, ProblemError, TimeoutError } from './errors.ts';
import {
  type CallOptions,
  type ClientOptions,
  type Connection,
  headersOf,
  preferWait,
  readConnection,
  readLimits,
  type SubmitOptions,
} from './options.ts';
import { backoffMs, pause } from './pause.ts';
import { signBody } from './signature.ts';
import { type SubmitManyOptions, type Submitted, submitMany } from './submit-many.ts';
import { type ReadSuccess, readAccepted, readBatch, readPreview, readReceipt, readReconciled } from './successes.ts';
import type { Accepted, BatchReply, Order, Preview, Receipt, ReconcileReply } from './types.ts';

/** An order, or the JSON of one order as a string or bytes, which is sent unchanged. */
export type Payload = Order | string | Uint8Array;

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FINAL: ReadonlySet<Receipt['status']> = new Set(['written', 'duplicate', 'dead']);
const LONGEST_WAIT_SECONDS = 30;
/** Of the time that is left, so that the reply comes before it is up. */
const PART_TO_WAIT = 0.8;
/** A batch may be of many megabytes. */
const TIME_OF_BATCH = 4;

/**
 * Calls the order ingestion service.
 *
 * Every call is sent again after a failure that may pass: a broken connection, no reply in time, 408, 429 and 5xx;
 * `Retry-After` is obeyed. One that sends orders keeps its idempotency key meanwhile, so that each is accepted once.
 */
export class OrdersClient {
  readonly #connection: Connection;
  readonly #signingSecret: string | undefined;
  readonly #limits: { timeoutMs: number; maxRetries: number };

  /** @throws {TypeError} for options that cannot work. */
  constructor(options: ClientOptions) {
    this.#connection = readConnection(options);
    this.#signingSecret = options.signingSecret;
    this.#limits = readLimits(options, { timeoutMs: 30_000, maxRetries: 5 });
  }

  /**
   * Sends an order. When this resolves the order is stored and can no longer be lost; `waitForReceipt` returns its outcome.
   *
   * @throws {ValidationError} when the order breaks a rule; {IdempotencyMismatchError} when its `idempotencyKey` was used
   *   before with other content: this delivery is kept as the receipt `keptAs`; {TypeError} for a string that is not
   *   well-formed; any other {OrdersError} when it was not accepted, or this is not known: send it again with the same
   *   `idempotencyKey`, or simply the same `source_order_id`.
   */
  async submitOrder(order: Payload, options: SubmitOptions = {}): Promise<Accepted> {
    return this.#accept('/ingest/orders', bytesOfPayload(order), {}, options);
  }

  /**
   * Sends an order as a webhook, signed over the exact bytes that are sent.
   *
   * @throws as `submitOrder`, and {TypeError} where neither the client nor the options have a signing secret.
   */
  async sendWebhook(
    order: Payload,
    { signingSecret = this.#signingSecret, ...options }: SubmitOptions & { signingSecret?: string | undefined } = {},
  ): Promise<Accepted> {
    mustBeSecret(signingSecret);
    const body = bytesOfPayload(order);
    const headers = { 'x-service-signature': await signBody(body, signingSecret) };
    return this.#accept('/ingest/webhook', body, headers, options);
  }

  /**
   * Sends up to 1,000 orders in one request. Each has its own result, at the same index. An error in one does not affect the others.
   *
   * Its default timeout is four times that of other calls.
   *
   * @param orders a string is the JSON of one order and is sent unchanged.
   * @returns Nothing is thrown for single orders, so look at `refused` and `mismatched`: a result may be an `error`, or
   *   have `payload_mismatch`. An order at this index came before with other content under this `idempotencyKey`: `receipt_id`
   *   is then the receipt of the first, and `kept_as` the receipt of this delivery.
   * @throws {OrdersError} when the whole was not accepted, or this is not known: send the same again with the same
   *   `idempotencyKey`; {TypeError} for a string that is not well-formed; nothing was sent then.
   */
  async submitBatch(
    orders: readonly (Order | string)[],
    options: Omit<SubmitOptions, 'wait'> = {},
  ): Promise<BatchReply> {
    const timeoutMs = options.timeoutMs ?? this.#limits.timeoutMs * TIME_OF_BATCH;
    const headers = { 'Content-Type': 'application/x-ndjson', ...headersOf(options) };
    const body = bytesOf(toLines(orders));
    return this.#post('/ingest/orders/batch', headers, body, readBatch(orders.length), { ...options, timeoutMs });
  }

  /**
   * Sends any number of orders, several at a time, and yields the outcome of each as soon as it is known; `index` is its
   * position in the input, from 0. A rejected order is a result. An error that would reject every order (a wrong key, a
   * suspended account, a wrong address, a page or redirect instead of the service) is thrown after the results in progress
   * were taken.
   *
   * The input is read no faster than results are taken. Leaving the loop ends what is under way; that may have arrived.
   */
  submitMany<T extends Payload>(
    orders: Iterable<T> | AsyncIterable<T>,
    options: SubmitManyOptions<T> = {},
  ): AsyncGenerator<Submitted<T>, void, undefined> {
    const { via = 'rest', signingSecret = this.#signingSecret } = options;
    if (via === 'rest') return submitMany((order, ofOne) => this.submitOrder(order, ofOne), orders, options);
    if (via !== 'webhook') throw new TypeError('via must be "rest" or "webhook".');
    mustBeSecret(signingSecret);
    return submitMany((order, ofOne) => this.sendWebhook(order, { ...ofOne, signingSecret }), orders, options);
  }

  /**
   * Returns a receipt with its current state.
   *
   * @param options `wait`: seconds, at most 30, for which the service may hold its reply until the receipt is final.
   * @throws {NotFoundError} when the account has no such receipt.
   */
  async getReceipt(receiptId: string, options: CallOptions & { wait?: number | undefined } = {}): Promise<Receipt> {
    const { timeoutMs, maxRetries } = readLimits(options, this.#limits);
    const { wait = 0, signal } = options;
    preferWait(wait);
    return this.#receipt(receiptId, { wait, timeoutMs: timeoutMs + wait * 1000, maxRetries, signal });
  }

  /**
   * Waits until a receipt is final: `written`, `duplicate` or `dead`. An outage in between is waited for, too.
   *
   * @param options `timeoutMs`: 60,000 unless said.
   * @throws {TimeoutError} when the time is up; its `receipt` is the last that was seen.
   * @throws {NotFoundError} when the account has no such receipt.
   */
  async waitForReceipt(
    receiptId: string,
    { timeoutMs = 60_000, signal }: Omit<CallOptions, 'maxRetries'> = {},
  ): Promise<Receipt> {
    readLimits({ timeoutMs }, this.#limits);
    const startedAt = performance.now();
    const deadline = startedAt + timeoutMs;
    const waited = () => `${Math.round(performance.now() - startedAt)} ms`;
    let receipt: Receipt | undefined;
    for (let early = 0; ; ) {
      const askedAt = performance.now();
      const leftMs = deadline - askedAt;
      const wait = Math.min(LONGEST_WAIT_SECONDS, Math.floor((leftMs * PART_TO_WAIT) / 1000));
      try {
        receipt = await this.#receipt(receiptId, {
          wait,
          timeoutMs: leftMs,
          maxRetries: Number.POSITIVE_INFINITY,
          signal,
        });
      } catch (cause) {
        if (!(cause instanceof OrdersError && cause.isRetryable)) throw cause;
        const message = `Not known to be final after ${waited()}${laterThan(timeoutMs, cause)}.`;
        throw new TimeoutError(message, { requestId: cause.requestId, receipt, cause });
      }
      if (FINAL.has(receipt.status)) return receipt;
      // A reply that comes early is of a service that drains, or holds as many as it can.
      const pauseMs = performance.now() - askedAt < wait * 1000 * PART_TO_WAIT || wait === 0 ? backoffMs(early++) : 0;
      if (performance.now() + pauseMs >= deadline) {
        throw new TimeoutError(`Still "${receipt.status}" after ${waited()}.`, { receipt });
      }
      await pause(pauseMs, signal);
    }
  }

  /** Returns the order as it would be stored, with its warnings. Nothing is stored. */
  async preview(order: Payload, options: CallOptions = {}): Promise<Preview> {
    return this.#post('/ingest/preview', JSON_TYPE, bytesOfPayload(order), readPreview, options);
  }

  /** Returns the outcome of up to 1,000 orders by your own ids: the newest receipt of each, or `never_seen`. */
  async reconcile(sourceOrderIds: readonly string[], options: CallOptions = {}): Promise<ReconcileReply> {
    const body = bytesOf(JSON.stringify({ source_order_ids: sourceOrderIds }));
    return this.#post('/ingest/reconcile', JSON_TYPE, body, readReconciled, options);
  }

  #accept(path: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>, options: SubmitOptions) {
    const all = { ...JSON_TYPE, ...headers, ...headersOf(options) };
    return this.#post(path, all, body, readAccepted, options);
  }

  #post<Reply>(
    path: string,
    headers: Record<string, string>,
    body: Uint8Array<ArrayBuffer>,
    readSuccess: ReadSuccess<Reply>,
    options: CallOptions & { wait?: number | undefined },
  ): Promise<Reply> {
    const { timeoutMs, maxRetries } = readLimits(options, this.#limits);
    const { signal, wait: waitSeconds = 0 } = options;
    const limits = { timeoutMs: timeoutMs + waitSeconds * 1000, maxRetries, waitSeconds, signal };
    return call(this.#connection, { method: 'POST', path, headers, body, readSuccess, ...limits });
  }

  #receipt(
    receiptId: string,
    options: Pick<Call<Receipt>, 'timeoutMs' | 'maxRetries' | 'signal'> & { wait: number },
  ): Promise<Receipt> {
    if (!/^[\w-]{1,64}$/.test(receiptId)) throw new TypeError('receiptId must be the receipt_id of an accepted order.');
    const { wait, ...limits } = options;
    const headers: Record<string, string> = wait > 0 ? { Prefer: preferWait(wait).join() } : {};
    const path = `/ingest/status/${receiptId}`;
    const request = { method: 'GET', path, headers, readSuccess: readReceipt, waitSeconds: wait, ...limits } as const;
    return call(this.#connection, request);
  }
}

function bytesOfPayload(order: Payload): Uint8Array<ArrayBuffer> {
  return bytesOf(typeof order === 'string' || order instanceof Uint8Array ? order : JSON.stringify(order));
}

function mustBeSecret(signingSecret: string | undefined): asserts signingSecret is string {
  if (!signingSecret) throw new TypeError('A webhook needs the signingSecret of your account ("oss_…").');
}

/** Why the time is not used up: the service is told to be away for longer. */
function laterThan(timeoutMs: number, cause: OrdersError): string {
  const seconds = cause instanceof ProblemError ? (cause.retryAfterSeconds ?? 0) : 0;
  return seconds > 0 ? `: the service asks to come back in ${seconds} s, and the whole time is ${timeoutMs} ms` : '';
}
