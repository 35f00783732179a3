import { bytesOf, bytesOfPayload, cancellationOf, cancellationsOf, contentKeyOf, toLines } from './bodies.ts';
import { call } from './call.ts';
import { followEvents, requestEvents } from './events.ts';
import {
  assertKnown,
  assertVia,
  type CallOptions,
  type CancelOptions,
  type ClientOptions,
  type Connection,
  type EventPageOptions,
  type EventsOptions,
  headersOf,
  OPTIONS,
  readConnection,
  readLimits,
  type SubmitOptions,
} from './options.ts';
import { requestReceipt, waitForReceipt } from './receipts.ts';
import { assertSigningSecret, signatureHeader } from './signature.ts';
import { type SubmitManyOptions, type Submitted, submitMany } from './submit-many.ts';
import {
  type ReadSuccess,
  readAccepted,
  readBatch,
  readCancelled,
  readCancelledList,
  readPreview,
  readReconciled,
} from './successes.ts';
import type {
  Accepted,
  BatchReply,
  Cancellation,
  CancelReply,
  CancelResult,
  EventPage,
  OrdersEvent,
  Payload,
  Preview,
  Receipt,
  ReconcileReply,
} from './types.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Longer, because a batch may have many megabytes. */
const BATCH_TIMEOUT_FACTOR = 4;

/**
 * Calls the order ingestion service.
 *
 * Every call is retried after a temporary failure: a broken connection, no reply in time, 408, 429 and 5xx. `Retry-After`
 * is obeyed. The idempotency key of a call that sends orders follows from their content, so that each is accepted once.
 */
export class OrdersClient {
  readonly #connection: Connection;
  readonly #signingSecret: string | undefined;
  readonly #limits: { timeoutMs: number; maxRetries: number };

  /** @throws {TypeError} for invalid options. */
  constructor(options: ClientOptions) {
    assertKnown(options, OPTIONS.client);
    this.#connection = readConnection(options);
    this.#signingSecret = options.signingSecret;
    this.#limits = readLimits(options, { timeoutMs: 30_000, maxRetries: 5 });
  }

  /**
   * Sends an order. When this resolves the order is stored and can no longer be lost; `waitForReceipt` returns its outcome.
   *
   * @throws {ValidationError} when the order breaks a rule; {IdempotencyMismatchError} when its `idempotencyKey` was
   *   already used for other content (this delivery is kept as the receipt `keptAs`); {TypeError} for a string that is not
   *   well-formed; any other {OrdersError} when the order was not accepted, or this is unknown: send it again with the same
   *   `idempotencyKey`, or simply the same `source_order_id`.
   */
  async submitOrder(order: Payload, options: SubmitOptions = {}): Promise<Accepted> {
    assertKnown(options, OPTIONS.submit);
    return this.#accept('/ingest/orders', bytesOfPayload(order), {}, options);
  }

  /**
   * Sends an order as a webhook with a signature of the exact bytes sent.
   *
   * @throws like `submitOrder`, and {TypeError} if neither the client nor the options have a signing secret.
   */
  async sendWebhook(
    order: Payload,
    { signingSecret = this.#signingSecret, ...options }: SubmitOptions & { signingSecret?: string | undefined } = {},
  ): Promise<Accepted> {
    assertKnown(options, OPTIONS.submit);
    const body = bytesOfPayload(order);
    return this.#accept('/ingest/webhook', body, await signatureHeader(body, signingSecret), options);
  }

  /**
   * Sends 1 to 1,000 orders, by default of 8 MiB together, in one request. Each has its own result, at the same index. An
   * error in one does not affect the others. The default timeout is four times that of other calls.
   *
   * @param orders line breaks in a string or bytes are sent as tabs, which does not change the order.
   * @returns the result of each order. Errors of single orders are not thrown, so check `refused` and `mismatched`: a result
   *   may have an `error` or `payload_mismatch`. The latter means that this `idempotencyKey` was already used for other
   *   content at this index: `receipt_id` is then the first receipt, and `kept_as` the receipt of this delivery.
   * @throws {InvalidRequestError} `payload_too_large` for more orders or bytes: nothing is stored, so send it in parts. Any
   *   other {OrdersError} when some or all orders may not be stored: send the whole batch again, in the same sequence and
   *   with the same `idempotencyKey`, if you set one. The stored orders return their receipts. {TypeError} for orders that cannot be sent; nothing is sent then.
   */
  async submitBatch(orders: readonly Payload[], options: Omit<SubmitOptions, 'wait'> = {}): Promise<BatchReply> {
    assertKnown(options, OPTIONS.batch);
    const timeoutMs = options.timeoutMs ?? this.#limits.timeoutMs * BATCH_TIMEOUT_FACTOR;
    const body = bytesOf(toLines(orders));
    const headers = { 'Content-Type': 'application/x-ndjson', ...headersOf(await contentKeyOf(body), options) };
    return this.#post('/ingest/orders/batch', headers, body, readBatch(orders.length), { ...options, timeoutMs });
  }

  /**
   * Sends any number of orders, several at a time, and yields the result of each as soon as it is known. `index` is its
   * position in the input, from 0. A rejected order is a result. An error that would reject every order (a wrong key, a
   * suspended account, a wrong address, a page or redirect instead of the service) is thrown after the results of the orders
   * in flight.
   *
   * The input is read no faster than results are taken. Leaving the loop aborts requests in flight, whose orders may have
   * arrived.
   */
  submitMany<T extends Payload>(
    orders: Iterable<T> | AsyncIterable<T>,
    options: SubmitManyOptions<T> = {},
  ): AsyncGenerator<Submitted<T>, void, undefined> {
    assertKnown(options, OPTIONS.many);
    const { via = 'rest', signingSecret = this.#signingSecret } = options;
    assertVia(via);
    if (via === 'rest') return submitMany((order, ofOne) => this.submitOrder(order, ofOne), orders, options);
    assertSigningSecret(signingSecret);
    return submitMany((order, ofOne) => this.sendWebhook(order, { ...ofOne, signingSecret }), orders, options);
  }

  /**
   * Returns a receipt with its current state.
   *
   * @param options `wait`: seconds, at most 30, for which the service may hold its reply until the receipt is final.
   * @throws {NotFoundError} when the account has no such receipt.
   */
  async getReceipt(receiptId: string, options: CallOptions & { wait?: number | undefined } = {}): Promise<Receipt> {
    assertKnown(options, OPTIONS.receipt);
    const { timeoutMs, maxRetries } = readLimits(options, this.#limits);
    const { wait = 0, signal } = options;
    const waited = { wait, timeoutMs: timeoutMs + wait * 1000, maxRetries, signal };
    return requestReceipt(this.#connection, receiptId, waited);
  }

  /**
   * Waits until a receipt is final: `written`, `duplicate` or `dead`. It also waits for the end of an outage.
   *
   * @param options `timeoutMs`: default 60,000.
   * @throws {TimeoutError} after the timeout; its `receipt` is the last known state.
   * @throws {NotFoundError} when the account has no such receipt.
   */
  async waitForReceipt(receiptId: string, options: Omit<CallOptions, 'maxRetries'> = {}): Promise<Receipt> {
    assertKnown(options, OPTIONS.wait);
    const { timeoutMs = 60_000, signal } = options;
    readLimits({ timeoutMs }, this.#limits);
    return waitForReceipt((options) => requestReceipt(this.#connection, receiptId, options), timeoutMs, signal);
  }

  /** Returns the order as it would be stored, with its warnings. Nothing is stored. */
  async preview(order: Payload, options: CallOptions = {}): Promise<Preview> {
    assertKnown(options, OPTIONS.call);
    return this.#post('/ingest/preview', JSON_TYPE, bytesOfPayload(order), readPreview, options);
  }

  /** Returns the outcome of up to 1,000 orders by your own ids: the newest receipt of each, or `never_seen`. */
  async reconcile(sourceOrderIds: readonly string[], options: CallOptions = {}): Promise<ReconcileReply> {
    assertKnown(options, OPTIONS.call);
    const body = bytesOf(JSON.stringify({ source_order_ids: sourceOrderIds }));
    return this.#post('/ingest/reconcile', JSON_TYPE, body, readReconciled, options);
  }

  /**
   * Cancels an order. When this resolves its outcome is stored:
   *
   * - `cancelled`: the order will not be dispatched, unless a reviewer reopens it.
   * - `requested`: the dispatching system may have seen the order, so a person decides.
   * - `held`: there is no order with this id yet; it is cancelled when it arrives.
   * - `archived`: the order is so old that it was moved to an archive, and nothing happened.
   *
   * @param options `reason`: at most 500 characters, shown to reviewers.
   * @throws {ValidationError} for an invalid id or reason; {TypeError} as for `sendWebhook`; any other {OrdersError} when the order was
   *   not cancelled, or this is unknown: call it again, which is always safe.
   */
  async cancelOrder(
    sourceOrderId: string,
    { reason, ...options }: CancelOptions & { reason?: string | null | undefined } = {},
  ): Promise<CancelResult> {
    return this.#cancel(cancellationOf(sourceOrderId, reason), readCancelled, options);
  }

  /**
   * Cancels 1 to 1,000 orders in one request, all or none.
   *
   * @param orders ids, or ids with reasons.
   * @returns the outcome of each, in the same order, as for `cancelOrder`.
   * @throws like `cancelOrder`.
   */
  async cancelOrders(orders: readonly (string | Cancellation)[], options: CancelOptions = {}): Promise<CancelReply> {
    return this.#cancel(cancellationsOf(orders), readCancelledList(orders.length), options);
  }

  /**
   * Returns a page of the account's events, oldest first.
   *
   * @returns `next` is the cursor for the next page, and `more` whether it has events already.
   * @throws {CursorExpiredError} when events after the cursor were removed because of their age; {InvalidRequestError}
   *   `events_disabled` when the account has no events; {TypeError} for invalid options.
   */
  async getEvents(options: EventPageOptions = {}): Promise<EventPage> {
    assertKnown(options, OPTIONS.page);
    return requestEvents(this.#connection, options, readLimits(options, this.#limits));
  }

  /**
   * Yields the account's events, oldest first, and waits for new ones until the loop is left or `signal` aborts. It also
   * waits for the end of an outage, however long.
   *
   * After an event was processed, store its `data.sequence` and pass it as `after` when the program starts again.
   *
   * @throws like `getEvents`, but not for temporary failures; the signal's reason after an abort.
   */
  events(options: EventsOptions = {}): AsyncGenerator<OrdersEvent, void, undefined> {
    assertKnown(options, OPTIONS.events);
    return followEvents(this.#connection, options, this.#limits.timeoutMs);
  }

  async #cancel<Reply>(
    payload: object,
    readSuccess: ReadSuccess<Reply>,
    { via = 'rest', signingSecret = this.#signingSecret, ...options }: CancelOptions,
  ): Promise<Reply> {
    assertKnown(options, OPTIONS.call);
    assertVia(via);
    const body = bytesOf(JSON.stringify(payload));
    if (via === 'rest') return this.#post('/ingest/orders/cancel', JSON_TYPE, body, readSuccess, options);
    const headers = { ...JSON_TYPE, ...(await signatureHeader(body, signingSecret)) };
    return this.#post('/ingest/webhook/cancel', headers, body, readSuccess, options);
  }

  async #accept(
    path: string,
    body: Uint8Array<ArrayBuffer>,
    signature: Record<string, string>,
    options: SubmitOptions,
  ) {
    const headers = { ...JSON_TYPE, ...signature, ...headersOf(await contentKeyOf(body), options) };
    return this.#post(path, headers, body, readAccepted, options);
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
}
