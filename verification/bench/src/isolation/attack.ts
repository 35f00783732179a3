import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The max length of an order, less one byte. */
export const LARGEST = 262_143;

/** One request of an attack: a POST if it has a body, else a GET. */
export interface AttackRequest {
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** A request to intake with this key. */
export function attackRequest(
  intakeUrl: string,
  path: string,
  key: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): AttackRequest {
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const all = { Authorization: `Bearer ${key}`, ...type, ...headers };
  return { url: `${intakeUrl}/ingest/${path}`, headers: all, ...(body !== undefined && { body }) };
}

/** The replies to an attack. */
export interface AttackResult {
  /** Number of replies by `<status>` or `<status> <code>`, and of connection errors by their code. */
  replies: Record<string, number>;
  /** The receipts in the 202 replies. */
  receiptIds: string[];
}

/** An order of the max length, filled with these items after its other members. */
export function largestOrder(
  id: string,
  itemOf: (index: number) => string = () => '{}',
  members: Record<string, unknown> = {},
): Buffer {
  const start = JSON.stringify({ source_order_id: id, ...members }).slice(0, -1);
  return filled(`${start},"items":[`, itemOf, ']}');
}

/** The largest order with up to 99 spaces at its end: the same content in other bytes. */
export function spacedOrder(id: string, spaces: number): Buffer {
  const filler = 'x'.repeat(100);
  const order = largestOrder(id, undefined, { area: filler }).toString();
  return Buffer.from(order.replace(filler, 'x').trimEnd() + ' '.repeat(spaces % 100));
}

/** An order of the max length, filled with members of different names. */
export function largestObject(id: string): Buffer {
  return filled(`{"source_order_id":${JSON.stringify(id)},`, (index) => `"k${index}":1`, '}');
}

function filled(start: string, partOf: (index: number) => string, end: string): Buffer {
  const parts: string[] = [];
  let length = start.length + end.length;
  for (let index = 0; ; index++) {
    const part = partOf(index);
    length += part.length + 1;
    if (length > LARGEST + 1) break;
    parts.push(part);
  }
  return Buffer.from(`${start}${parts.join()}${end}`.padEnd(LARGEST));
}

export const uniqueKeyItem = (index: number) => `{"k${index}":1}`;
export const deepItem = () => `${'['.repeat(60)}${']'.repeat(60)}`;

const RECEIPT_ID = /"receipt_id":"([0-9a-f-]{36})"/g;
/** Longer replies are counted and not read. */
const MAX_READ_LENGTH = 500_000;

/** How long the attack waits for replies after its last request, before it closes the connections. */
const GRACE_MS = 2000;

/**
 * Sends requests on many connections at the same time, each with a pause between its requests, until `signal` is aborted.
 *
 * @param requestOf returns the request with this number, counted over all connections.
 */
export async function attack(
  requestOf: (number: number) => AttackRequest,
  { connections, restMs = 200, signal }: { connections: number; restMs?: number; signal: AbortSignal },
): Promise<AttackResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const result: AttackResult = { replies: {}, receiptIds: [] };
  const closing = new AbortController();
  let count = 0;
  const loop = async () => {
    while (!signal.aborted) {
      const outcome = await sendRequest(requestOf(count++), agent, closing.signal, result.receiptIds);
      result.replies[outcome] = (result.replies[outcome] ?? 0) + 1;
      if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => {});
    }
  };
  let timer: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    timer = setTimeout(() => closing.abort(), GRACE_MS);
  });
  await Promise.all(Array.from({ length: connections }, loop));
  clearTimeout(timer);
  agent.destroy();
  return result;
}

function sendRequest({ url, headers, body }: AttackRequest, agent: Agent, signal: AbortSignal, receiptIds: string[]) {
  return new Promise<string>((resolve) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = { agent, signal, method: body === undefined ? 'GET' : 'POST', headers: { ...headers, ...length } };
    const failed = (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? 'no reply yet' : (error.code ?? error.message));
    const sent = request(url, options, (response) => {
      const { statusCode = 0 } = response;
      let text = '';
      response.on('data', (part: Buffer) => {
        if (text.length < MAX_READ_LENGTH) text += part.toString('latin1');
      });
      response.on('error', failed);
      response.on('end', () => {
        if (statusCode === 202) for (const [, id] of text.matchAll(RECEIPT_ID)) receiptIds.push(id as string);
        const code = statusCode < 300 ? undefined : /"code":"(\w+)"/.exec(text)?.[1];
        resolve(code ? `${statusCode} ${code}` : `${statusCode}`);
      });
    });
    sent.on('error', failed);
    sent.end(body);
  });
}
