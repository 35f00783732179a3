import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInFlight, offerAtRate } from '@orders/test-services/load/offer.ts';
import { until } from '@orders/test-services/until.ts';
import type { ClientOrder, Sender } from './sender.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFile(resolve(ROOT, path), 'utf8');

/** Every sample order that there is, half of them as webhooks. */
export async function readSamples(): Promise<ClientOrder[]> {
  const lines = async (path: string) => (await read(path)).trim().split('\n');
  const messy = JSON.parse(await read('packages/domain/test/fixtures/messy.json')) as { payload: object }[];
  const bodies = [
    ...(await lines('packages/domain/test/fixtures/orders.ndjson')),
    ...(await lines('packages/dev-server/src/sample-orders.ndjson')),
    ...messy.map(({ payload }) => JSON.stringify(payload)),
  ];
  return bodies.map((body, at) => ({
    sourceOrderId: JSON.parse(body).source_order_id,
    idempotencyKey: `sample-${at}`,
    route: at % 2 === 0 ? 'orders' : 'webhook',
    body,
  }));
}

/** What no log may show of the orders below. */
export const PERSONAL = ['Zubaida Compose', '+971509876543', '509876543'];

/** The order of this number: of ten one is an earlier one sent again, one another with an earlier one's `source_order_id`. */
export function makeOrder(number: number): ClientOrder {
  if (number % 10 === 3) return makeOrder(number - 3);
  const first = number % 10 === 7 ? number - 6 : number;
  const sourceOrderId = `compose-${first}`;
  return {
    sourceOrderId,
    idempotencyKey: `compose-${number}`,
    route: first % 2 === 0 ? 'orders' : 'webhook',
    body: JSON.stringify({
      source_order_id: sourceOrderId,
      customer: { name: PERSONAL[0], phone: PERSONAL[1] },
      emirate: 'Dubai',
      items: [{ name: 'Soup', quantity: 2 }],
      total: '99.50',
    }),
  };
}

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
