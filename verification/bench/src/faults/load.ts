import { setTimeout as sleep } from 'node:timers/promises';
import { createInFlight, offerAtRate, repeat } from '@orders/test-services/load/offer.ts';
import type { Canceller } from './canceller.ts';
import { type Counts, createCounter } from './counter.ts';
import type { Findings } from './findings.ts';
import type { Ledger, Order, Sender } from './ledger.ts';
import { between, pick, type Random } from './random.ts';
import { makeRequest, reportRefusal, sendRequest } from './request.ts';

/** The replies to the requests of one round, counted by attempt. */
export interface RequestCounts {
  /** New receipts. */
  accepted: number;
  /** Replies that named the receipt of an earlier request. */
  replayed: number;
  /** Other replies by status; 0 means no reply. */
  refused: Counts;
  cancellations: Counts;
  /** The longest time in which nothing was accepted, in seconds. */
  longestPause: number;
}

/** The clients of the service, all in this process. */
export type Load = ReturnType<typeof createLoad>;

const REPEATED_KEY_SHARE = 0.05;
const CHANGED_ORDER_SHARE = 0.1;
const POISON_SHARE = 0.01;
const KEYED_SHARE = 0.5;
const WEBHOOK_SHARE = 0.5;
/** Of orders without an idempotency key. */
const SOURCE_SHARE = 0.4;
const CANCELLED_SHARE = 0.05;
/** When an order is cancelled: before it is sent, with it, after its 202, or once it is written. Some are never sent. */
const CANCEL_MOMENTS = ['before', 'never sent', 'with', 'accepted', 'written'] as const;
/** Half of all duplicates repeat one of this many latest orders. Some of these are still in flight. */
const RECENT_ORDERS = 50;

const MAX_ATTEMPTS = 6;
/** Seconds between two attempts. */
const RETRY_PAUSE_SECONDS = [0.2, 0.6] as const;
/** Max orders in flight. Orders above it are skipped. */
const MAX_IN_FLIGHT = 800;
const CANCEL_INTERVAL_MS = 5;

/** @param options `urls` of all intakes; each attempt picks one at random. `rate` in orders a second. */
export function createLoad(options: {
  ledger: Ledger;
  findings: Findings;
  canceller: Canceller;
  senders: readonly Sender[];
  urls: readonly string[];
  rate: number;
  random: Random;
}) {
  const { ledger, findings, canceller, senders, urls, rate, random } = options;
  const sent: Order[] = [];
  const sentWithKey: Order[] = [];
  const inFlight = createInFlight();
  const refused = createCounter();
  let [accepted, replayed] = [0, 0];
  let [acceptedAt, longestPause] = [0, 0];
  let stops: (() => Promise<void>)[] = [];

  function earlier(orders: readonly Order[]): Order | undefined {
    return pick(random, random() < 0.5 ? orders.slice(-RECENT_ORDERS) : orders);
  }

  /** The next order of the mix. */
  function make(): Order {
    const roll = random();
    const again = roll < REPEATED_KEY_SHARE ? earlier(sentWithKey) : undefined;
    if (again) return again;
    const first = roll < REPEATED_KEY_SHARE + CHANGED_ORDER_SHARE ? earlier(sent) : undefined;
    const number = sent.length;
    const isPoison = first?.isPoison ?? roll > 1 - POISON_SHARE;
    const order = {
      sender: first?.sender ?? pick(random, senders),
      sourceOrderId: first?.sourceOrderId ?? `${isPoison ? 'poison' : 'order'}-${number}`,
      idempotencyKey: random() < KEYED_SHARE ? `key-${number}` : null,
      number,
      isPoison,
    };
    sent.push(order);
    if (order.idempotencyKey !== null) sentWithKey.push(order);
    return order;
  }

  async function sendWithRetries(order: Order): Promise<void> {
    const isForSource = order.idempotencyKey === null && random() < SOURCE_SHARE;
    const request = makeRequest(order, isForSource ? 'source' : random() < WEBHOOK_SHARE ? 'webhook' : 'rest');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const reply = await sendRequest(pick(random, urls), request);
      const { status } = reply;
      if (status === 202) return accept(order, reply.body);
      refused.add(status);
      reportRefusal(findings, reply);
      if (status !== 0 && status < 500) return;
      await sleep(between(random, RETRY_PAUSE_SECONDS) * 1000);
    }
  }

  function accept(order: Order, body: { receipt_id: string; duplicate?: boolean; payload_mismatch?: boolean }): void {
    const now = performance.now();
    longestPause = Math.max(longestPause, (now - acceptedAt) / 1000);
    acceptedAt = now;
    const isReplay = body.duplicate === true;
    if (body.payload_mismatch) findings.add({ name: 'payload-mismatch', id: body.receipt_id });
    if (isReplay) replayed += 1;
    if (!ledger.accepted.has(body.receipt_id)) accepted += 1;
    ledger.enter(order, { receiptId: body.receipt_id, isReplay });
  }

  async function sendAndCancel(order: Order): Promise<void> {
    const moment = pick(random, CANCEL_MOMENTS);
    if (moment === 'before' || moment === 'never sent') await canceller.cancel(order);
    else if (moment === 'with') void canceller.cancel(order);
    if (moment === 'never sent') return;
    await sendWithRetries(order);
    if (moment === 'accepted') void canceller.cancel(order);
    else if (moment === 'written') canceller.cancelWritten(order);
  }

  function sendNext(): Promise<void> {
    const order = make();
    return random() < CANCELLED_SHARE ? sendAndCancel(order) : sendWithRetries(order);
  }

  return {
    make,
    /** Starts sending orders. */
    start(): void {
      [accepted, replayed] = [0, 0];
      [acceptedAt, longestPause] = [performance.now(), 0];
      const offering = offerAtRate({ perSecond: rate, max: MAX_IN_FLIGHT, inFlight }, sendNext);
      stops = [offering.stop, repeat(canceller.sendDue, CANCEL_INTERVAL_MS).stop];
    },
    /** Stops sending and waits for requests in flight. */
    async stop(): Promise<RequestCounts> {
      longestPause = Math.max(longestPause, (performance.now() - acceptedAt) / 1000);
      await Promise.all(stops.map((stop) => stop()));
      await inFlight.settle();
      return { accepted, replayed, longestPause, refused: refused.take(), cancellations: await canceller.settle() };
    },
    /** Sends an order until it is accepted or its attempts are used up. */
    deliver: (order: Order) => inFlight.track(sendWithRetries(order)),
  };
}
