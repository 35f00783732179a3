import { createInFlight } from '@orders/test-services/load/offer.ts';
import { type Counts, createCounter } from './counter.ts';
import type { Findings } from './findings.ts';
import type { CancellationLedger, CancelTarget } from './ledger.ts';
import { between, pick, type Random } from './random.ts';
import { makeCancelRequest, reportRefusal, sendRequest } from './request.ts';
import { type Patience, waitUntil } from './wait-until.ts';

/** Seconds. A confirmed order can be cancelled for 8 s, and is dispatched after 10 s. */
const AFTER_WRITTEN = [0.3, 2] as const;
const AFTER_CONFIRMED = [0, 13] as const;
const RETRY_PAUSE = [0.2, 0.6] as const;
const REPEAT_PAUSE = [0, 6] as const;

const CONFIRMED_SHARE = 0.3;
const REPEATED_SHARE = 0.2;
const LIST_SHARE = 0.2;
const MAX_LIST = 10;
/** A list includes what is due within this time. */
const LIST_AHEAD_MS = 1000;
const WEBHOOK_SHARE = 0.5;

interface Scheduled {
  at: number;
  target: CancelTarget;
}

/** Cancels orders as their senders do. A request without a reply is repeated until it has one. */
export type Canceller = ReturnType<typeof createCanceller>;

export function createCanceller(options: {
  cancellations: CancellationLedger;
  findings: Findings;
  urls: readonly string[];
  random: Random;
}) {
  const { cancellations, findings, urls, random } = options;
  let scheduled: Scheduled[] = [];
  const inFlight = createInFlight();
  /** First replies by outcome, and requests without one by status; 0 means no reply. */
  const counter = createCounter();

  function schedule(target: CancelTarget, pause: readonly [number, number]): void {
    scheduled.push({ at: Date.now() + between(random, pause) * 1000, target });
  }

  function takeScheduled(limit: number, matches: (one: Scheduled) => boolean): CancelTarget[] {
    const taken = new Set(scheduled.filter(matches).slice(0, limit));
    scheduled = scheduled.filter((one) => !taken.has(one));
    return [...taken].map(({ target }) => target);
  }

  async function send(targets: readonly [CancelTarget, ...CancelTarget[]]): Promise<void> {
    const enter = targets.map((target) => cancellations.begin(target));
    const request = makeCancelRequest(targets, random() < WEBHOOK_SHARE ? 'webhook' : 'rest');
    const reply = await sendRequest(pick(random, urls), request);
    const { status, body } = reply;
    if (status !== 200) {
      counter.add(status);
      reportRefusal(findings, reply);
      if (status === 0 || status >= 500) for (const target of targets) schedule(target, RETRY_PAUSE);
      return;
    }
    const results = targets.length > 1 ? body.results : [body];
    for (const [index, target] of targets.entries()) {
      const { outcome, source_order_id, order_id: orderId } = results[index] ?? {};
      if (source_order_id !== target.sourceOrderId) {
        findings.add({ name: 'outcome-changed', id: target.sourceOrderId, detail: `for ${source_order_id}` });
      } else if (enter[index]?.({ outcome, orderId })) counter.add(outcome);
      if (random() < REPEATED_SHARE) schedule(target, REPEAT_PAUSE);
    }
  }

  /** Sends a cancellation. It resolves after the first attempt. */
  function cancel(target: CancelTarget): Promise<void> {
    const soon = Date.now() + LIST_AHEAD_MS;
    const joins = (one: Scheduled) => one.target.sender === target.sender && one.at < soon;
    const others = random() < LIST_SHARE ? takeScheduled(MAX_LIST - 1, joins) : [];
    return inFlight.track(send([target, ...others]));
  }

  function sendUntil(time: number): void {
    for (const target of takeScheduled(Number.POSITIVE_INFINITY, ({ at }) => at <= time)) void cancel(target);
  }

  /** Waits for requests in flight. @returns the counts since the last call. */
  async function settle(): Promise<Counts> {
    await inFlight.settle();
    return counter.take();
  }

  return {
    cancel,
    settle,
    /** Cancels an order some time after its 202. Its worker has most likely written it by then. */
    cancelWritten: (target: CancelTarget) => schedule(target, AFTER_WRITTEN),
    /** Cancels some of the orders that a reviewer has just confirmed, before or after dispatching can see them. */
    cancelConfirmed(targets: readonly CancelTarget[]): void {
      for (const target of targets) if (random() < CONFIRMED_SHARE) schedule(target, AFTER_CONFIRMED);
    },
    /** Sends the cancellations that are due. */
    sendDue: () => sendUntil(Date.now()),
    /** Sends all cancellations, due or not, and repeats them until each is answered or the patience ends. */
    async finish(patience: Patience): Promise<Counts> {
      await waitUntil(async () => {
        sendUntil(Number.POSITIVE_INFINITY);
        await inFlight.settle();
        return scheduled.length === 0;
      }, patience);
      return settle();
    },
  };
}
