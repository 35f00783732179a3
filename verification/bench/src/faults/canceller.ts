import { setTimeout as sleep } from 'node:timers/promises';
import type { CancellationLedger, CancelTarget } from './cancellation-ledger.ts';
import type { Findings } from './findings.ts';
import { between, pick, type Random } from './random.ts';
import { makeCancelRequest, sendRequest } from './request.ts';

/** First replies by outcome, and requests without one by status; 0 means no reply. */
export type CancellationCounts = Record<string, number>;

/** Cancels orders as their senders do. A request without a reply is repeated until it has one. */
export interface Canceller {
  /** Sends a cancellation. It resolves after the first attempt. */
  cancel(target: CancelTarget): Promise<void>;
  /** Cancels an order some time after its 202. Its worker has most likely written it by then. */
  cancelWritten(target: CancelTarget): void;
  /** Cancels some of the orders that a reviewer has just confirmed, before or after dispatching can see them. */
  cancelConfirmed(targets: readonly CancelTarget[]): void;
  /** Sends the cancellations that are due. */
  sendDue(): void;
  /** Waits for requests in flight. @returns the counts since the last call. */
  settle(): Promise<CancellationCounts>;
  /** Sends all cancellations, due or not, and repeats them until each is answered or the deadline passes. */
  finish(deadline: number): Promise<CancellationCounts>;
}

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
const POLL_INTERVAL_MS = 100;

interface Scheduled {
  at: number;
  target: CancelTarget;
}

export function createCanceller(options: {
  cancellations: CancellationLedger;
  findings: Findings;
  urls: readonly string[];
  random: Random;
}): Canceller {
  const { cancellations, findings, urls, random } = options;
  let scheduled: Scheduled[] = [];
  const inFlight = new Set<Promise<void>>();
  let counts: CancellationCounts = {};

  function schedule(target: CancelTarget, pause: readonly [number, number]): void {
    scheduled.push({ at: Date.now() + between(random, pause) * 1000, target });
  }

  function takeScheduled(limit: number, matches: (one: Scheduled) => boolean): CancelTarget[] {
    const taken = new Set(scheduled.filter(matches).slice(0, limit));
    scheduled = scheduled.filter((one) => !taken.has(one));
    return [...taken].map(({ target }) => target);
  }

  function count(name: string | number): void {
    counts[name] = (counts[name] ?? 0) + 1;
  }

  async function send(targets: readonly [CancelTarget, ...CancelTarget[]]): Promise<void> {
    const enter = targets.map((target) => cancellations.begin(target));
    const request = makeCancelRequest(targets, random() < WEBHOOK_SHARE ? 'webhook' : 'rest');
    const { status, body } = await sendRequest(pick(random, urls), request);
    if (status !== 200) {
      count(status);
      if (status !== 0 && status !== 503) {
        findings.add({ name: 'refused-wrongly', id: `${status} ${body?.code}, request ${body?.request_id}` });
      }
      if (status === 0 || status >= 500) for (const target of targets) schedule(target, RETRY_PAUSE);
      return;
    }
    const results = targets.length > 1 ? body.results : [body];
    for (const [index, target] of targets.entries()) {
      const { outcome, source_order_id, order_id: orderId } = results[index] ?? {};
      if (source_order_id !== target.sourceOrderId) {
        findings.add({ name: 'outcome-changed', id: target.sourceOrderId, detail: `for ${source_order_id}` });
      } else if (enter[index]?.({ outcome, orderId })) count(outcome);
      if (random() < REPEATED_SHARE) schedule(target, REPEAT_PAUSE);
    }
  }

  function cancel(target: CancelTarget): Promise<void> {
    const soon = Date.now() + LIST_AHEAD_MS;
    const joins = (one: Scheduled) => one.target.sender === target.sender && one.at < soon;
    const others = random() < LIST_SHARE ? takeScheduled(MAX_LIST - 1, joins) : [];
    const sending = send([target, ...others]).finally(() => inFlight.delete(sending));
    inFlight.add(sending);
    return sending;
  }

  function sendUntil(time: number): void {
    for (const target of takeScheduled(Number.POSITIVE_INFINITY, ({ at }) => at <= time)) void cancel(target);
  }

  async function settle(): Promise<CancellationCounts> {
    while (inFlight.size > 0) await Promise.all(inFlight);
    const settled = counts;
    counts = {};
    return settled;
  }

  return {
    cancel,
    cancelWritten: (target) => schedule(target, AFTER_WRITTEN),
    cancelConfirmed(targets) {
      for (const target of targets) if (random() < CONFIRMED_SHARE) schedule(target, AFTER_CONFIRMED);
    },
    sendDue: () => sendUntil(Date.now()),
    settle,
    async finish(deadline) {
      while (scheduled.length > 0 && Date.now() < deadline) {
        sendUntil(Number.POSITIVE_INFINITY);
        while (inFlight.size > 0) await Promise.all(inFlight);
        await sleep(POLL_INTERVAL_MS);
      }
      return settle();
    },
  };
}
