import { type LoadRequest, openConnection } from '@orders/test-services/load/connection.ts';
import { runLoad } from '@orders/test-services/load/run-load.ts';
import { outcomeOf, receiptIdsIn } from './polite-sender.ts';

/** The max length of an order, less one byte. */
export const LARGEST = 262_143;

/** One request of an attack. */
export type AttackRequest = LoadRequest & { url: string; headers: Record<string, string> };

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

/** Receipts in longer replies are not read. */
const MAX_READ_LENGTH = 500_000;

/** How long the attack waits for replies after its last request, before it closes the connections. Requests without one are not counted. */
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
  const result: AttackResult = { replies: {}, receiptIds: [] };
  const first = requestOf(0);
  const opened = Array.from({ length: connections }, () => openConnection(first.url));
  let isClosed = false;
  const close = () => {
    isClosed = true;
    for (const connection of opened) connection.close();
  };
  let timer: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    timer = setTimeout(close, GRACE_MS);
  });
  const load = { kind: 'closed', connections, restMs } as const;
  const next = (number: number) => (number === 0 ? first : requestOf(number));
  await runLoad(opened, load, signal, next, (reply) => {
    if (isClosed && reply.failure) return;
    const outcome = outcomeOf(reply);
    result.replies[outcome] = (result.replies[outcome] ?? 0) + 1;
    if (reply.status === 202) result.receiptIds.push(...receiptIdsIn(reply.text.slice(0, MAX_READ_LENGTH)));
  });
  clearTimeout(timer);
  close();
  return result;
}
