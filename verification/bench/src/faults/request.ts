import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { makeOrder } from '../make-order.ts';
import type { Findings } from './findings.ts';
import type { CancelTarget, Order, Sender } from './ledger.ts';
import { pick, type Random } from './random.ts';

export type Channel = 'rest' | 'webhook';

const PATHS: Record<Channel, string> = { rest: '/ingest/orders', webhook: '/ingest/webhook' };

/** A request, to either route. */
export interface IngestRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The same bytes each time, on each route. An order with an idempotency key cannot be sent to a source. */
export function makeRequest(order: Order, channel: Channel | 'source'): IngestRequest {
  const { sender, sourceOrderId, idempotencyKey, number } = order;
  const body = makeOrder(sourceOrderId, number);
  if (channel === 'source') {
    const headers = { 'content-type': 'application/json', 'x-signature': signatureOf(sender, body) };
    return { path: `/ingest/sources/${sender.sourceId}`, headers, body };
  }
  const headers = headersOf(sender, channel, body);
  if (idempotencyKey !== null) headers['idempotency-key'] = idempotencyKey;
  return { path: PATHS[channel], headers, body };
}

/** @param targets of one sender; more than one are sent as a list. */
export function makeCancelRequest(
  targets: readonly [CancelTarget, ...CancelTarget[]],
  channel: Channel,
): IngestRequest {
  const [first] = targets;
  const cancellations = targets.map(({ sourceOrderId }) => ({ source_order_id: sourceOrderId, reason: 'a fault run' }));
  const body = JSON.stringify(targets.length > 1 ? { cancellations } : cancellations[0]);
  return { path: `${PATHS[channel]}/cancel`, headers: headersOf(first.sender, channel, body), body };
}

function headersOf(sender: Sender, channel: Channel, body: string): Record<string, string> {
  const headers = { authorization: `Bearer ${sender.apiKey}`, 'content-type': 'application/json' };
  if (channel === 'rest') return headers;
  return { ...headers, 'x-service-signature': `sha256=${signatureOf(sender, body)}` };
}

function signatureOf({ signingSecret }: Sender, body: string): string {
  return createHmac('sha256', signingSecret).update(body).digest('hex');
}

/** A reply. Status 0 means that there was no complete reply. */
export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a reply of any shape; only some members are read.
  body: any;
}

/** A valid request may get no reply or a 503. Anything else is a violation. */
export function reportRefusal(findings: Findings, { status, body }: Reply): void {
  if (status === 0 || status === 503) return;
  findings.add({ name: 'refused-wrongly', id: `${status} ${body?.code}, request ${body?.request_id}` });
}

/** After this time in milliseconds a client gives up and retries. */
const TIMEOUT_MS = 10_000;

export async function sendRequest(url: string, { path, headers, body }: IngestRequest): Promise<Reply> {
  return ask(url + path, { method: 'POST', headers, body });
}

/** Requests the status of a receipt. */
export async function askStatus(url: string, apiKey: string, receiptId: string): Promise<Reply> {
  return ask(`${url}/ingest/status/${receiptId}`, { headers: { authorization: `Bearer ${apiKey}` } });
}

/** Requests a page of the account's events. `wait` waits for the next one. */
export async function askEvents(
  url: string,
  apiKey: string,
  { after, limit, wait }: { after: number; limit: number; wait: boolean },
): Promise<Reply> {
  const query = new URLSearchParams({ ...(after > 0 && { after: String(after) }), limit: String(limit) });
  const headers = { authorization: `Bearer ${apiKey}`, ...(wait && { prefer: 'wait=1' }) };
  return ask(`${url}/ingest/events?${query}`, { headers });
}

async function ask(url: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: null };
  }
}

const MAX_PAUSE_MS = 20;

/**
 * Sends all orders at the same time on separate connections that the client closes in the head, in the body, or between
 * the request and its reply.
 */
export async function cutRequests(urls: readonly string[], orders: readonly Order[], random: Random): Promise<void> {
  await Promise.all(
    orders.map((order, index) => {
      const { path, headers, body } = makeRequest(order, index % 2 ? 'webhook' : 'rest');
      const { host, hostname, port } = new URL(pick(random, urls));
      const fields = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
      const head = `POST ${path} HTTP/1.1\r\n${fields.map((field) => field.join(': ')).join('\r\n')}\r\n\r\n`;
      const parts = [
        head.slice(0, Math.floor(random() * head.length)),
        head + body.slice(0, Math.floor(random() * body.length)),
        head + body,
      ];
      return cutOff(hostname, Number(port), parts[index % parts.length] as string, random() * MAX_PAUSE_MS);
    }),
  );
}

async function cutOff(host: string, port: number, text: string, pauseMs: number): Promise<void> {
  const socket = connect({ host, port });
  const closed = once(socket, 'close').catch(() => {});
  socket.on('error', () => {});
  socket.write(text, () => setTimeout(() => socket.destroy(), pauseMs));
  await closed;
}
