import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { makeOrder } from './make-order.ts';

/** Closed: a number of senders, each waiting for its reply. Open: a fixed rate, regardless of replies. */
export type Load = { kind: 'closed'; connections: number } | { kind: 'open'; perSecond: number; connections?: number };

/** One load from its first request to its last reply. Moments are Unix milliseconds, durations milliseconds. */
export interface LoadResult {
  startedAt: number;
  endedAt: number;
  /** For each order by its number: when its 202 was there; NaN where none came. */
  acceptedAt: Float64Array;
  /**
   * For each order: from when it was to be sent until its reply was there. In the open loop that counts the wait for a free connection
   * too, so a server that stalls is not spared the orders that piled up meanwhile (coordinated omission).
   */
  latencies: Float64Array;
  /** The same from when it was sent. */
  replyTimes: Float64Array;
  /** How many replies there were of each status other than 202; 0 stands for a failed connection. */
  refused: Record<string, number>;
}

/** Connections of the open loop, unless it is told otherwise. */
export const OPEN_CONNECTIONS = 256;
/** If orders of more than this many seconds wait for a connection, the server counts as overloaded and the load ends. */
const MAX_BEHIND_SECONDS = 10;

/** Sends the load for `seconds`. Orders are named `<prefix>-<number>`, from 0. */
export async function runLoad(
  connections: readonly Connection[],
  load: Load,
  seconds: number,
  prefix: string,
): Promise<LoadResult> {
  const started = performance.now();
  const deadline = started + seconds * 1000;
  const acceptedAt: number[] = [];
  const latencies: number[] = [];
  const replyTimes: number[] = [];
  const refused: Record<string, number> = {};
  let sent = 0;
  let lastAnswer = started;

  function sendOne(connection: Connection, due: number, after: () => void): void {
    const number = sent;
    const sentAt = performance.now();
    sent += 1;
    connection.send(makeOrder(`${prefix}-${number}`, number), ({ status, at }) => {
      lastAnswer = at;
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
    endedAt: performance.timeOrigin + lastAnswer,
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
