import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '../../test/harness/hashes.ts';

/** An order as a client has it. */
export interface ClientOrder {
  sourceOrderId: string;
  idempotencyKey: string;
  route: 'orders' | 'webhook';
  body: string;
}

/** The replies to the clients, and the number of their attempts. */
export interface Ledger {
  /** The `source_order_id` of each receipt that a 202 named. */
  accepted: Map<string, string>;
  /** Attempts that ended otherwise than with a 202. */
  repeated: number;
  violations: string[];
}

/** Clients of one account, which send an order again rather than give it up. */
export interface Sender {
  ledger: Ledger;
  /** Sends an order until it is accepted: the same bytes under the same key, with growing pauses. */
  deliver(order: ClientOrder): Promise<string>;
}

const TIMEOUT_MS = 10_000;
const GIVE_UP_MS = 120_000;
const PAUSES_MS = [100, 200, 500, 1000, 2000];

/**
 * Whatever its clients are told is held against what they were told before: a key names one receipt, a receipt is of one order.
 *
 * @param options `url` of the intake; `signal` ends every delivery.
 */
export function createSender(options: {
  url: string;
  apiKey: string;
  signingSecret: string;
  signal: AbortSignal;
}): Sender {
  const { url, apiKey, signingSecret, signal } = options;
  const ledger: Ledger = { accepted: new Map(), repeated: 0, violations: [] };
  const receiptOfKey = new Map<string, string>();

  async function attempt({ route, body, idempotencyKey }: ClientOrder): Promise<{ status: number; text: string }> {
    try {
      const reply = await fetch(`${url}/ingest/${route}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${apiKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': idempotencyKey,
          ...(route === 'webhook' && { 'x-service-signature': `sha256=${sign(signingSecret, body)}` }),
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      return { status: reply.status, text: await reply.text() };
    } catch {
      signal.throwIfAborted();
      return { status: 0, text: '' };
    }
  }

  function accept({ sourceOrderId, idempotencyKey }: ClientOrder, receiptId: string): string {
    const named = receiptOfKey.get(idempotencyKey) ?? receiptId;
    const known = ledger.accepted.get(receiptId) ?? sourceOrderId;
    if (named !== receiptId) ledger.violations.push(`one key named two receipts, ${named} and ${receiptId}`);
    if (known !== sourceOrderId) ledger.violations.push(`receipt ${receiptId} was named for two orders`);
    receiptOfKey.set(idempotencyKey, named);
    ledger.accepted.set(receiptId, known);
    return receiptId;
  }

  return {
    ledger,
    async deliver(order) {
      for (let attempts = 0, startedAt = Date.now(); Date.now() - startedAt < GIVE_UP_MS; attempts += 1) {
        const { status, text } = await attempt(order);
        if (status === 202) return accept(order, JSON.parse(text).receipt_id);
        ledger.repeated += 1;
        if (status !== 0 && status !== 503) throw new Error(`${order.sourceOrderId} was refused: ${status} ${text}`);
        await sleep((PAUSES_MS[attempts] ?? 2000) * (0.5 + Math.random()), undefined, { signal });
      }
      throw new Error(`${order.sourceOrderId} was not accepted for ${GIVE_UP_MS / 1000} s`);
    },
  };
}
