import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, LoadRequest, Reply } from './connection.ts';

/**
 * Closed: each connection sends its next request after its reply and a pause. Open: a fixed rate, regardless of replies; a request that is due
 * waits for a free connection.
 */
export type Load =
  | { kind: 'closed'; connections: number; restMs?: number }
  | { kind: 'open'; perSecond: number; connections?: number };

/** The results of one load. Times are Unix milliseconds, durations are milliseconds. */
export interface LoadResult {
  startedAt: number;
  endedAt: number;
  /** For each request by its number: the time of its reply with a 2xx status; NaN without one. */
  acceptedAt: Float64Array;
  /**
   * For each request: from its due time until its reply. In the open loop this includes the wait for a free connection, so
   * that a stalled server does not hide the waiting requests (coordinated omission).
   */
  latencies: Float64Array;
  /** The same from the time of sending. */
  replyTimes: Float64Array;
  /** The number of replies by status, except 2xx; 0 means a failed connection. */
  refused: Record<string, number>;
}

/** The default number of connections of the open loop. */
export const OPEN_CONNECTIONS = 256;
/** If requests of more than this many seconds wait for a connection, the server counts as overloaded and the load ends. */
const MAX_BEHIND_SECONDS = 10;

/** The number of accepted requests. */
export const countAccepted = ({ acceptedAt }: LoadResult): number =>
  acceptedAt.reduce((sum, at) => sum + (Number.isNaN(at) ? 0 : 1), 0);

/**
 * Sends a load, and waits for all replies.
 *
 * @param end seconds, or a signal that ends the load.
 * @param requestOf returns the request with this number, from 0.
 * @param onReply is called with each reply before the next request of its connection.
 */
export async function runLoad(
  connections: readonly Connection[],
  load: Load,
  end: number | AbortSignal,
  requestOf: (number: number) => LoadRequest,
  onReply?: (reply: Reply, number: number) => void | Promise<void>,
): Promise<LoadResult> {
  const started = performance.now();
  const deadline = typeof end === 'number' ? started + end * 1000 : Number.POSITIVE_INFINITY;
  const isOver = () => performance.now() >= deadline || (typeof end === 'object' && end.aborted);
  const acceptedAt: number[] = [];
  const latencies: number[] = [];
  const replyTimes: number[] = [];
  const refused: Record<string, number> = {};
  let sent = 0;
  let lastReplyAt = started;

  async function sendOne(connection: Connection, due: number): Promise<void> {
    const number = sent++;
    const sentAt = performance.now();
    const reply = await connection.exchange(requestOf(number));
    const { status, at } = reply;
    const isAccepted = status >= 200 && status < 300;
    lastReplyAt = at;
    latencies[number] = at - due;
    replyTimes[number] = at - sentAt;
    acceptedAt[number] = isAccepted ? performance.timeOrigin + at : Number.NaN;
    if (!isAccepted) refused[status] = (refused[status] ?? 0) + 1;
    if (onReply) await onReply(reply, number);
  }

  if (load.kind === 'closed') await closedLoop(load);
  else await openLoop(load.perSecond);
  return {
    startedAt: performance.timeOrigin + started,
    endedAt: performance.timeOrigin + lastReplyAt,
    acceptedAt: Float64Array.from(acceptedAt),
    latencies: Float64Array.from(latencies),
    replyTimes: Float64Array.from(replyTimes),
    refused,
  };

  async function closedLoop({ restMs = 0 }: Load & { kind: 'closed' }): Promise<void> {
    const signal = typeof end === 'object' ? end : undefined;
    await Promise.all(
      connections.map(async (connection) => {
        while (!isOver()) {
          await sendOne(connection, performance.now());
          if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => {});
        }
      }),
    );
  }

  async function openLoop(perSecond: number): Promise<void> {
    const free = [...connections];
    const dueAt = (number: number) => started + (number * 1000) / perSecond;
    const total = typeof end === 'number' ? Math.floor(end * perSecond) : Number.POSITIVE_INFINITY;
    const isOpen = () => sent < total && !(typeof end === 'object' && end.aborted);
    const sendDue = () => {
      const now = performance.now();
      while (isOpen() && free.length > 0 && dueAt(sent) <= now) {
        const connection = free.pop() as Connection;
        void sendOne(connection, dueAt(sent)).then(() => {
          free.push(connection);
          sendDue();
        });
      }
    };
    while (isOpen() && performance.now() - dueAt(sent) < MAX_BEHIND_SECONDS * 1000) {
      sendDue();
      await sleep(1);
    }
    while (free.length < connections.length) await sleep(1);
  }
}
