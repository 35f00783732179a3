import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { OrdersClient } from '../src/index.ts';

/** A request as it arrived. */
export interface Arrived {
  at: number;
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
export const refuse = (status: number, code: string, headers: Record<string, string> = {}): Step => {
  const problem = { type: 'about:blank', title: 'No', status, detail: 'Said no.', code, request_id: 'of-the-service' };
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
    const one: Arrived = { at: performance.now(), method, path, headers, body: Buffer.alloc(0), socket };
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

export async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}
