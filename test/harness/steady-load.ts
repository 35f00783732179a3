import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '@orders/test-services/load/connection.ts';
import { until } from '@orders/test-services/until.ts';

/** Sends an order with this `source_order_id` and returns the reply; `body` is null if it is not JSON. */
type Send = (sourceOrderId: string) => Promise<{ status: number; body: { receipt_id: string; code?: string } | null }>;

/** The outcome of each sent order, by `source_order_id`. */
export interface Ledger {
  /** Receipt ids of the orders that got a 202. */
  accepted: Map<string, string>;
  /** Status and code, or the connection error, of all other orders. */
  failed: Map<string, string>;
}

interface SteadyLoad {
  ledger: Ledger;
  /** Waits until `more` additional orders are accepted. */
  untilAccepted(more: number): Promise<void>;
  /** Stops and waits for the replies of requests in flight. */
  stop(): Promise<void>;
}

/**
 * Sends orders until stopped, each exactly once.
 *
 * @param senders run concurrently; each sends one order at a time.
 * @param options `restMs` is the pause between a reply and the next request of the same sender.
 */
export function startSteadyLoad(senders: Send[], { restMs = 25 } = {}): SteadyLoad {
  const ledger: Ledger = { accepted: new Map(), failed: new Map() };
  let stopping = false;

  async function sendUntilStopped(send: Send, sender: number): Promise<void> {
    for (let number = 0; !stopping; number++) {
      const id = `steady-${sender}-${number}`;
      try {
        const { status, body } = await send(id);
        if (status === 202 && body) ledger.accepted.set(id, body.receipt_id);
        else ledger.failed.set(id, `${status} ${body?.code ?? 'without a code'}`);
      } catch (error) {
        ledger.failed.set(id, String((error as NodeJS.ErrnoException).code ?? error));
      }
      await sleep(restMs);
    }
  }

  const sending = senders.map(sendUntilStopped);
  return {
    ledger,
    async untilAccepted(more) {
      const wanted = ledger.accepted.size + more;
      await until(`${more} more are accepted`, async () => ledger.accepted.size >= wanted);
    },
    async stop() {
      stopping = true;
      await Promise.all(sending);
    },
  };
}

/** One request in this number waits for its outcome: such requests are the hardest for a drain to finish. */
const WAITS_EVERY = 10;

/** A sender with one connection, which it reuses until the server closes it. */
export function onOneConnection(url: string, account: { key: string }): Send {
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' };
  const connection = openConnection(`${url}/ingest/orders`, headers);
  let sent = 0;
  return async (sourceOrderId) => {
    const { status, text, failure } = await connection.exchange({
      headers: sent++ % WAITS_EVERY === 0 ? { Prefer: 'wait=5' } : {},
      body: JSON.stringify({ source_order_id: sourceOrderId, customer: { name: 'Rolling' }, total: '12.50' }),
    });
    if (failure) throw new Error(failure);
    // haproxy's own replies are HTML.
    return { status, body: text.startsWith('{') ? JSON.parse(text) : null };
  };
}
