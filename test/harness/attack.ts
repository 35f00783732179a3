import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** As long as an order may be, less one byte. */
export const LARGEST = 262_143;

/** One request of an attack: a POST where it has a body, or else a GET. */
export interface Shot {
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** A request to intake with this key. */
export function shotAt(
  intakeUrl: string,
  path: string,
  key: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Shot {
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const all = { Authorization: `Bearer ${key}`, ...type, ...headers };
  return { url: `${intakeUrl}/ingest/${path}`, headers: all, ...(body !== undefined && { body }) };
}

/** What an attack got back. */
export interface Spoils {
  /** How many replies there were, by `<status>` or `<status> <code>`; errors of connections by their code. */
  replies: Record<string, number>;
  /** Of each receipt of a 202. */
  receiptIds: string[];
}

/** Fills an order with as many of these items as it may hold, after its other members. */
export function largestOrder(
  id: string,
  itemOf: (index: number) => string = () => '{}',
  members: Record<string, unknown> = {},
): Buffer {
  const start = JSON.stringify({ source_order_id: id, ...members }).slice(0, -1);
  return filled(`${start},"items":[`, itemOf, ']}');
}

/** The same content in other bytes: the largest order, with up to 99 spaces more at its end. */
export function spacedOrder(id: string, spaces: number): Buffer {
  const filler = 'x'.repeat(100);
  const order = largestOrder(id, undefined, { area: filler }).toString();
  return Buffer.from(order.replace(filler, 'x').trimEnd() + ' '.repeat(spaces % 100));
}

/** Fills an order with as many members as it may hold, each with a name of its own. */
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

/** How long replies are waited for once nothing more is sent; then the connections are broken. */
const GRACE_MS = 2000;

/**
 * Sends from many connections at once, each again after a rest, until the signal.
 *
 * @param shotOf makes the request of this number, counted over all connections.
 */
export async function attack(
  shotOf: (number: number) => Shot,
  { connections, restMs = 200, signal }: { connections: number; restMs?: number; signal: AbortSignal },
): Promise<Spoils> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const spoils: Spoils = { replies: {}, receiptIds: [] };
  const breaking = new AbortController();
  let fired = 0;
  const loop = async () => {
    while (!signal.aborted) {
      const outcome = await fire(shotOf(fired++), agent, breaking.signal, spoils.receiptIds);
      spoils.replies[outcome] = (spoils.replies[outcome] ?? 0) + 1;
      if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => {});
    }
  };
  let timer: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    timer = setTimeout(() => breaking.abort(), GRACE_MS);
  });
  await Promise.all(Array.from({ length: connections }, loop));
  clearTimeout(timer);
  agent.destroy();
  return spoils;
}

function fire({ url, headers, body }: Shot, agent: Agent, signal: AbortSignal, receiptIds: string[]) {
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
