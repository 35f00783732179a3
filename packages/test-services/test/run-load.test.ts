import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type Connection, openConnection } from '../src/load/connection.ts';
import { runLoad } from '../src/load/run-load.ts';

const orders = (prefix: string) => (number: number) => ({
  body: JSON.stringify({ source_order_id: `${prefix}-${number}` }),
});

let server: Server;
let connections: Connection[] = [];
const bodies: string[] = [];

/** A server that replies to each order when `answer` calls back with a status. */
async function start(count: number, answer: (reply: (status: number) => void, body: string) => void): Promise<void> {
  bodies.length = 0;
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    answer((status) => response.writeHead(status, { 'content-length': 2 }).end('{}'), body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ingest/orders`;
  connections = Array.from({ length: count }, () => openConnection(url));
}
afterEach(async () => {
  for (const connection of connections) connection.close();
  server.close();
  await once(server, 'close');
});

test('in the closed loop each connection sends its next order after its reply, and no order is sent twice', async () => {
  let [inFlight, mostInFlight] = [0, 0];
  await start(4, (reply) => {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    setImmediate(() => {
      inFlight -= 1;
      reply(202);
    });
  });
  const { acceptedAt, refused } = await runLoad(connections, { kind: 'closed', connections: 4 }, 0.5, orders('m1'));
  expect(mostInFlight).toBeLessThanOrEqual(4);
  expect(refused).toEqual({});
  const ids = bodies.map((body) => JSON.parse(body).source_order_id);
  expect(ids).toHaveLength(acceptedAt.length);
  expect(new Set(ids)).toEqual(new Set(Array.from(acceptedAt, (_, number) => `m1-${number}`)));
});

test('in the open loop a stalled server still gets the orders that were due during the stall', async () => {
  // With one connection, latencies measured from sending instead of from the due time would show only one slow order.
  await start(1, (reply, body) => setTimeout(reply, body.includes('m2-30"') ? 300 : 0, 202));
  const { latencies } = await runLoad(connections, { kind: 'open', perSecond: 100 }, 1, orders('m2'));
  expect(latencies).toHaveLength(100);
  expect(latencies.filter((latency) => latency > 100).length).toBeGreaterThan(12);
  expect(Math.max(...latencies)).toBeGreaterThan(200);
});

test('rejected orders are counted by status, and broken connections as 0', async () => {
  await start(1, (reply, body) => (body.includes('-0"') ? reply(503) : server.closeAllConnections()));
  const { acceptedAt, refused } = await runLoad(connections, { kind: 'open', perSecond: 20 }, 0.1, orders('m3'));
  expect(refused).toEqual({ 503: 1, 0: 1 });
  expect([...acceptedAt]).toEqual([Number.NaN, Number.NaN]);
});

test('a connection is opened with its first request', async () => {
  await start(2, (reply) => reply(202));
  let opened = 0;
  server.on('connection', () => opened++);
  expect(await connections[0]?.exchange(orders('m6')(0))).toMatchObject({ status: 202 });
  expect(opened).toBe(1);
});

test('a connection that the server closed while it was idle is opened again', async () => {
  await start(1, (reply) => reply(202));
  const load = { kind: 'open', perSecond: 20 } as const;
  expect((await runLoad(connections, load, 0.1, orders('m4'))).refused).toEqual({});
  server.closeIdleConnections();
  await sleep(100);
  expect((await runLoad(connections, load, 0.1, orders('m5'))).refused).toEqual({});
});

test('a connection reads replies of any kind, and goes to the address of each request', async () => {
  server = createServer((request, response) => {
    if (request.url === '/broken') request.socket.destroy();
    if (request.url === '/last') response.setHeader('connection', 'close');
    if (request.url === '/chunks') response.write('first, ');
    response.end(`${request.method} ${request.url}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = openConnection(url);
  connections = [connection];
  const replies = [];
  for (const path of ['/chunks', '/last', '/broken', '/query?a=1'])
    replies.push(await connection.exchange({ url: url + path, ...(path === '/last' && { body: Buffer.from('{}') }) }));
  expect(replies).toMatchObject([
    { status: 200, text: expect.stringMatching(/first, .*GET \/chunks/s) },
    { status: 200, text: 'POST /last' },
    { status: 0, text: '', failure: 'ECONNRESET' },
    { status: 200, text: 'GET /query?a=1' },
  ]);
  connection.close();
  expect(await connection.exchange({ url: `${url}/after` })).toMatchObject({ status: 200 });
});
