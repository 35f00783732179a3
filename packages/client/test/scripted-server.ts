import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { OrdersClient } from '../src/index.ts';

/** A request as it arrived. */
export interface Arrived {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  socket: Socket;
}

/** Handles one request. */
export type Step = (response: ServerResponse, arrived: Arrived) => void;

export const KEY = `oik_${'k'.repeat(49)}`;
export const SECRET = 'oss_secret-of-the-tests';
export const RECEIPT_ID = '01a1f9bd-9a17-7354-8023-e51a3a7d2f89';
export const KEPT_AS = '01a1f9bd-9a17-7354-8023-e51a3a7d2f90';

/** A reply of the service. */
export const answer =
  (status: number, body: object, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

export const accepted = answer(202, { receipt_id: RECEIPT_ID });

/** A rejection with the problem document of the service. */
export const refuse = (status: number, code: string, headers: Record<string, string> = {}, more = {}): Step => {
  const request_id = 'of-the-service';
  const problem = { type: 'about:blank', title: 'No', status, detail: 'Said no.', code, request_id, ...more };
  const type = { 'Content-Type': 'application/problem+json', 'X-Request-Id': 'of-the-service' };
  return answer(status, problem, { ...type, ...headers });
};

/** Breaks the connection before the reply (`hangUp`) or during it (`breakOff`), or never replies (`keepSilent`). */
export const hangUp: Step = (response) => response.socket?.destroy();
export const breakOff: Step = (response) => {
  response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': '1000' }).write('{"receipt_id":');
  setImmediate(() => response.socket?.destroy());
};
export const keepSilent: Step = () => undefined;

/**
 * A server that handles each request with the next step of a script, and all later requests with the last step.
 * It simulates a bad network or a proxy.
 */
export async function startScript(...steps: [Step, ...Step[]]) {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const step = steps[Math.min(arrived.length, steps.length - 1)] as Step;
    const { method = '', url: path = '', headers, socket } = request;
    const one: Arrived = { method, path, headers, body: Buffer.alloc(0), socket };
    arrived.push(one);
    one.body = Buffer.concat(await request.toArray());
    step(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    arrived,
    client: (options: Partial<ConstructorParameters<typeof OrdersClient>[0]> = {}) =>
      new OrdersClient({ baseUrl: url, apiKey: KEY, signingSecret: SECRET, ...options }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @throws {Error} after some 90 s, a bound for what hangs. */
export async function waitFor(condition: () => boolean): Promise<void> {
  for (let polls = 0; !condition(); polls += 1) {
    if (polls === 18_000) throw new Error(`waited for: ${condition}`);
    await sleep(5);
  }
}

/**
 * Stops the clock of the client: its timers end when the test moves the clock, those of 0 ms at once. The timers of fetch and of the server
 * stay real. The clock goes on when it is disposed of.
 */
export function stopClock() {
  const real = { setTimeout, clearTimeout, now: performance.now };
  let now = 0;
  const timers = new Map<unknown, { at: number; end: () => void }>();
  const isOfClient = (stack = '') => /\/packages\/client\/src\//.test(stack.split('\n')[2] ?? '');
  const setTimer = (end: () => void, ms = 0, ...rest: unknown[]) => {
    if (ms <= 0 || !isOfClient(new Error().stack)) return real.setTimeout(end, ms, ...(rest as []));
    const timer = {};
    timers.set(timer, { at: now + ms, end });
    return timer;
  };
  globalThis.setTimeout = setTimer as unknown as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    if (!timers.delete(timer)) real.clearTimeout(timer);
  };
  performance.now = () => now;
  const waits = () => [...timers.values()].map(({ at }) => at - now);
  return {
    /** The milliseconds after which the timers of the client end. */
    waits,
    untilWaits: (ms: number) => waitFor(() => waits().includes(ms)),
    advance(ms: number): void {
      now += ms;
      for (const [timer, { at, end }] of timers) if (at <= now && timers.delete(timer)) end();
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
      performance.now = real.now;
    },
  };
}
