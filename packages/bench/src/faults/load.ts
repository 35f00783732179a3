import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings } from './findings.ts';
import type { Ledger, Order, Sender } from './ledger.ts';
import { between, pick, type Random } from './random.ts';
import { makeRequest, sendRequest } from './request.ts';

/** What came of one round's requests, by attempts. */
export interface Tally {
  /** Receipts that were not known before. */
  accepted: number;
  /** Replies that named the receipt of an earlier request. */
  replayed: number;
  /** Other replies by status; 0 stands for none. */
  refused: Record<string, number>;
}

/** Clients of the service, all in this process. */
export interface Load {
  /** Offers orders from now on. */
  start(): void;
  /** Offers no more, and waits for what is under way. */
  stop(): Promise<Tally>;
  /** The next order of the mixture. */
  make(): Order;
  /** Sends an order until it is accepted or has been sent often enough. */
  deliver(order: Order): Promise<void>;
}

const REPEATED_KEYS = 0.05;
const REPEATED_ORDERS = 0.1;
const POISON = 0.01;
const KEYED = 0.5;
const WEBHOOKS = 0.5;
/** Half of all duplicates repeat one of this many latest orders. Some of these are still in flight. */
const RECENT = 50;

const MAX_ATTEMPTS = 6;
/** Seconds between two attempts. */
const PAUSE = [0.2, 0.6] as const;
/** Max orders in flight; none is sent above this. */
const MAX_UNDER_WAY = 800;
const TICK_MS = 5;

/** @param options `urls` of all intakes; each attempt picks one at random. `rate` in orders a second. */
export function createLoad(options: {
  ledger: Ledger;
  findings: Findings;
  senders: readonly Sender[];
  urls: readonly string[];
  rate: number;
  random: Random;
}): Load {
  const { ledger, findings, senders, urls, rate, random } = options;
  const sent: Order[] = [];
  const sentWithKey: Order[] = [];
  const underWay = new Set<Promise<void>>();
  let tally: Tally = { accepted: 0, replayed: 0, refused: {} };
  let offering: Promise<void> = Promise.resolve();
  let isOffering = false;

  function earlier(orders: readonly Order[]): Order | undefined {
    return pick(random, random() < 0.5 ? orders.slice(-RECENT) : orders);
  }

  function make(): Order {
    const roll = random();
    const again = roll < REPEATED_KEYS ? earlier(sentWithKey) : undefined;
    if (again) return again;
    const first = roll < REPEATED_KEYS + REPEATED_ORDERS ? earlier(sent) : undefined;
    const number = sent.length;
    const isPoison = first?.isPoison ?? roll > 1 - POISON;
    const order = {
      sender: first?.sender ?? pick(random, senders),
      sourceOrderId: first?.sourceOrderId ?? `${isPoison ? 'poison' : 'order'}-${number}`,
      idempotencyKey: random() < KEYED ? `key-${number}` : null,
      number,
      isPoison,
    };
    sent.push(order);
    if (order.idempotencyKey !== null) sentWithKey.push(order);
    return order;
  }

  async function sendAgainAndAgain(order: Order): Promise<void> {
    const request = makeRequest(order, random() < WEBHOOKS ? 'webhook' : 'rest');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { status, body } = await sendRequest(pick(random, urls), request);
      if (status === 202) return accept(order, body);
      tally.refused[status] = (tally.refused[status] ?? 0) + 1;
      if (status !== 0 && status !== 503) {
        findings.add({ name: 'refused-wrongly', id: `${status} ${body?.code}, request ${body?.request_id}` });
      }
      if (status !== 0 && status < 500) return;
      await sleep(between(random, PAUSE) * 1000);
    }
  }

  function accept(order: Order, body: { receipt_id: string; duplicate?: boolean; payload_mismatch?: boolean }): void {
    const isReplay = body.duplicate === true;
    if (body.payload_mismatch) findings.add({ name: 'payload-mismatch', id: body.receipt_id });
    if (isReplay) tally.replayed += 1;
    if (!ledger.accepted.has(body.receipt_id)) tally.accepted += 1;
    ledger.enter(order, { receiptId: body.receipt_id, isReplay });
  }

  function deliver(order: Order): Promise<void> {
    const delivery = sendAgainAndAgain(order).finally(() => underWay.delete(delivery));
    underWay.add(delivery);
    return delivery;
  }

  async function offer(): Promise<void> {
    const startedAt = performance.now();
    for (let offered = 0; isOffering; await sleep(TICK_MS)) {
      for (const due = ((performance.now() - startedAt) / 1000) * rate; offered < due; offered += 1) {
        if (underWay.size < MAX_UNDER_WAY) void deliver(make());
      }
    }
  }

  return {
    start() {
      tally = { accepted: 0, replayed: 0, refused: {} };
      isOffering = true;
      offering = offer();
    },
    async stop() {
      isOffering = false;
      await offering;
      while (underWay.size > 0) await Promise.all(underWay);
      return tally;
    },
    make,
    deliver,
  };
}
