import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../test/harness/until.ts';
import { makeOrder } from './orders.ts';
import type { Sender } from './sender.ts';

/** Orders at a steady rate, regardless of the replies. */
export interface Load {
  /** Waits until `more` further receipts were returned. */
  untilAccepted(more: number): Promise<void>;
  /** Offers no more, and waits until all that was offered is accepted. */
  stop(): Promise<number>;
}

/** Max orders in flight; none is sent above this. */
const MAX_UNDER_WAY = 500;
const TICK_MS = 20;
const TIMEOUT_S = 120;

/**
 * @param rate orders a second.
 * @param first the number of the first order, where another load has sent those before it.
 */
export function startLoad(sender: Sender, rate: number, signal: AbortSignal, first = 0): Load {
  const underWay = new Set<Promise<void>>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let isOffering = true;
  let offered = 0;

  function offer(): void {
    const delivery = sender
      .deliver(makeOrder(first + offered++))
      .catch(failed.reject)
      .then(() => void underWay.delete(delivery));
    underWay.add(delivery);
  }

  async function offerAtRate(): Promise<void> {
    for (let due = 0; isOffering; await sleep(TICK_MS, undefined, { signal })) {
      due += (TICK_MS / 1000) * rate;
      for (; due >= 1; due -= 1) if (underWay.size < MAX_UNDER_WAY) offer();
    }
  }
  const offering = offerAtRate();
  offering.catch(failed.reject);

  return {
    async untilAccepted(more) {
      const { accepted } = sender.ledger;
      const enough = accepted.size + more;
      const isEnough = async () => accepted.size >= enough;
      const waiting = until(`${more} more are accepted`, isEnough, { seconds: TIMEOUT_S, signal });
      await Promise.race([failed.promise, waiting]);
    },
    async stop() {
      isOffering = false;
      await offering;
      const drain = async () => {
        while (underWay.size > 0) await Promise.all(underWay);
      };
      await Promise.race([failed.promise, drain()]);
      return offered;
    },
  };
}
