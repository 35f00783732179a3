import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of the orders that were sent. */
export interface Ledger {
  /** Receipt ids by `source_order_id`, of those that got their 202. */
  accepted: Map<string, string>;
  /** What each of the others met. */
  failed: string[];
}

export interface SteadyLoad {
  ledger: Ledger;
  /** Resolves when each request under way has its reply. */
  stop(): Promise<void>;
}

/** Between a reply and the next request of one sender. */
const REST_MS = 25;

/** Now and then the reply has to wait for the outcome, as those are the hardest to see out. */
const WAITS_EVERY = 10;

/**
 * Sends orders until stopped, each once: nothing is ever sent again.
 *
 * @param urls each has one sender, with one connection that is kept for as long as the other side keeps it.
 */
export function startSteadyLoad(account: { key: string }, urls: string[]): SteadyLoad {
  const ledger: Ledger = { accepted: new Map(), failed: [] };
  let stopping = false;

  async function sendUntilStopped(url: string, sender: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; !stopping; number++) {
      const id = `steady-${sender}-${number}`;
      try {
        const { status, body } = await sendOrder(agent, url, account, id, number % WAITS_EVERY === 0);
        if (status === 202) ledger.accepted.set(id, body.receipt_id);
        else ledger.failed.push(`${status} ${JSON.stringify(body)}`);
      } catch (error) {
        ledger.failed.push(String((error as NodeJS.ErrnoException).code ?? error));
      }
      await sleep(REST_MS);
    }
    agent.destroy();
  }

  const senders = urls.map(sendUntilStopped);
  return {
    ledger,
    async stop() {
      stopping = true;
      await Promise.all(senders);
    },
  };
}

async function sendOrder(
  agent: Agent,
  url: string,
  account: { key: string },
  sourceOrderId: string,
  waits: boolean,
): Promise<{ status: number; body: { receipt_id: string } }> {
  const headers = {
    Authorization: `Bearer ${account.key}`,
    'Content-Type': 'application/json',
    ...(waits && { Prefer: 'wait=5' }),
  };
  return new Promise((resolve, reject) => {
    request(`${url}/ingest/orders`, { method: 'POST', agent, headers }, (response) => {
      // haproxy's own replies are HTML.
      const body = json(response).catch(() => null) as Promise<{ receipt_id: string }>;
      body.then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end(JSON.stringify({ source_order_id: sourceOrderId, customer: { name: 'Rolling' }, total: '12.50' }));
  });
}
