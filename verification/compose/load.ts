import { createInFlight, offerAtRate } from '@orders/test-services/load/offer.ts';
import { until } from '@orders/test-services/until.ts';
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
const TIMEOUT_S = 120;

/**
 * @param rate orders a second.
 * @param first the number of the first order, where another load has sent those before it.
 */
export function startLoad(sender: Sender, rate: number, signal: AbortSignal, first = 0): Load {
  const inFlight = createInFlight();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let offered = 0;
  const offering = offerAtRate({ perSecond: rate, max: MAX_UNDER_WAY, inFlight }, async () => {
    await sender.deliver(makeOrder(first + offered++)).catch(fail);
  });
  function fail(error: unknown): void {
    failed.reject(error);
    void offering.stop();
  }

  return {
    async untilAccepted(more) {
      const { accepted } = sender.ledger;
      const enough = accepted.size + more;
      const isEnough = async () => accepted.size >= enough;
      const waiting = until(`${more} more are accepted`, isEnough, { seconds: TIMEOUT_S, signal });
      await Promise.race([failed.promise, waiting]);
    },
    async stop() {
      await offering.stop();
      await Promise.race([failed.promise, inFlight.settle()]);
      return offered;
    },
  };
}
