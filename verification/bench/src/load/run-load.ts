import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { makeOrder } from './make-order.ts';

/** Closed: a number of senders, each waiting for its reply. Open: a fixed rate, regardless of replies. */
export type Load = { kind: 'closed'; connections: number } | { kind: 'open'; perSecond: number; connections?: number };

/** The results of one load. Times are Unix milliseconds, durations are milliseconds. */
export interface LoadResult {
  startedAt: number;
  endedAt: number;
  /** For each order by its number: the time of its 202; NaN without one. */
  acceptedAt: Float64Array;
  /**
   * For each order: from its due time until its reply. In the open loop this includes the wait for a free connection, so
   * that a stalled server does not hide the waiting orders (coordinated omission).
   */
  latencies: Float64Array;
  /** The same from the time of sending. */
  replyTimes: Float64Array;
  /** The number of replies by status, except 202; 0 means a failed connection. */
  refused: Record<string, number>;
}

/** The default number of connections of the open loop. */
export const OPEN_CONNECTIONS = 256;
/** If orders of more than this many seconds wait for a connection, the server counts as overloaded and the load ends. */
const MAX_BEHIND_SECONDS = 10;

/** Sends the load for `seconds`. Orders are named `<prefix>-<number>`, from 0. */
export async function runLoad(
  connections: readonly Connection[],
  load: Load,
  seconds: number,
  prefix: string,
  make: (sourceOrderId: string, number: number) => string = makeOrder,
): Promise<LoadResult> {
  const started = performance.now();
  const deadline = started + seconds * 1000;
  const acceptedAt: number[] = [];
  const latencies: number[] = [];
  const replyTimes: number[] = [];
  const refused: Record<string, number> = {};
  let sent = 0;
  let lastReplyAt = started;

  function sendOne(connection: Connection, due: number, after: () => void): void {
    const number = sent;
    const sentAt = performance.now();
    sent += 1;
    const body = make(`${prefix}-${number}`, number);
    connection.send(body, ({ status, at }) => {
      lastReplyAt = at;
      latencies[number] = at - due;
      replyTimes[number] = at - sentAt;
      acceptedAt[number] = status === 202 ? performance.timeOrigin + at : Number.NaN;
      if (status !== 202) refused[status] = (refused[status] ?? 0) + 1;
      after();
    });
  }

  if (load.kind === 'closed') await closedLoop();
  else await openLoop(load.perSecond);
  return {
    startedAt: performance.timeOrigin + started,
    endedAt: performance.timeOrigin + lastReplyAt,
    acceptedAt: Float64Array.from(acceptedAt),
    latencies: Float64Array.from(latencies),
    replyTimes: Float64Array.from(replyTimes),
    refused,
  };

  async function closedLoop(): Promise<void> {
    const loops = connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = () => {
            const now = performance.now();
            if (now < deadline) sendOne(connection, now, next);
            else resolve();
          };
          next();
        }),
    );
    await Promise.all(loops);
  }

  async function openLoop(perSecond: number): Promise<void> {
    const free = [...connections];
    const dueAt = (number: number) => started + (number * 1000) / perSecond;
    const total = Math.floor(seconds * perSecond);
    const sendDue = () => {
      const now = performance.now();
      while (sent < total && free.length > 0 && dueAt(sent) <= now) {
        const connection = free.pop() as Connection;
        sendOne(connection, dueAt(sent), () => {
          free.push(connection);
          sendDue();
        });
      }
    };
    while (sent < total && performance.now() - dueAt(sent) < MAX_BEHIND_SECONDS * 1000) {
      sendDue();
      await sleep(1);
    }
    while (free.length < connections.length) await sleep(1);
  }
}
