import { createHmac } from 'node:crypto';
import { makeOrder } from '../load/make-order.ts';
import type { Order } from './ledger.ts';

export type Channel = 'rest' | 'webhook';

/** The request for an order. */
export interface OrderRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The same bytes each time, on either route. */
export function makeRequest(order: Order, channel: Channel): OrderRequest {
  const { sender, sourceOrderId, idempotencyKey, number } = order;
  const body = makeOrder(sourceOrderId, number);
  const headers: Record<string, string> = {
    authorization: `Bearer ${sender.apiKey}`,
    'content-type': 'application/json',
  };
  if (idempotencyKey !== null) headers['idempotency-key'] = idempotencyKey;
  if (channel === 'rest') return { path: '/ingest/orders', headers, body };
  const signature = createHmac('sha256', sender.signingSecret).update(body).digest('hex');
  return { path: '/ingest/webhook', headers: { ...headers, 'x-service-signature': `sha256=${signature}` }, body };
}

/** A reply. Status 0 means that there was no complete reply. */
export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a reply of any shape; only some members are read.
  body: any;
}

/** After this time in milliseconds a client gives up and retries. */
const TIMEOUT_MS = 10_000;

export async function sendRequest(url: string, { path, headers, body }: OrderRequest): Promise<Reply> {
  return ask(url + path, { method: 'POST', headers, body });
}

/** Requests the status of a receipt. */
export async function askStatus(url: string, apiKey: string, receiptId: string): Promise<Reply> {
  return ask(`${url}/ingest/status/${receiptId}`, { headers: { authorization: `Bearer ${apiKey}` } });
}

async function ask(url: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: null };
  }
}
