import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { boundPipelining, oneAtATime } from '../src/lifecycle/bound-pipelining.ts';

let server: Server;
afterEach(() => server.close().closeAllConnections());

async function serve(listener: RequestListener): Promise<number> {
  server = boundPipelining(createServer(listener), 4);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends bytes as one chunk. @returns the number of replies, when the connection is closed. */
async function countReplies(port: number, bytes: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(bytes);
  const text = await buffer(socket).catch(() => '');
  return text.toString().match(/HTTP\/1.1 200/g)?.length ?? 0;
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST = GET.replace('Host', 'Connection: close\r\nHost');
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\r\n\r\n';

test.each([
  ['without a body', GET],
  ['with a body', POST],
])('of thousands of requests %s in one chunk few begin, and the connection is closed', async (_, request) => {
  let begun = 0;
  const port = await serve((_request, response) => {
    begun += 1;
    response.end('ok');
  });
  const chunk = request.repeat(60_000 / request.length) + LAST;
  const all = await Promise.all(Array.from({ length: 20 }, () => countReplies(port, chunk)));
  expect(begun).toBe(20 * 4);
  expect(Math.max(...all)).toBeLessThanOrEqual(4);
});

test('as many as are allowed are answered', async () => {
  const port = await serve((_request, response) => void setImmediate(() => response.end('ok')));
  expect(await countReplies(port, POST.repeat(3) + LAST)).toBe(4);
});

test('a connection with as many unanswered requests as are allowed is closed at the next one', async () => {
  let begun = 0;
  const port = await serve(() => {
    begun += 1;
  });
  const socket = connect({ port, host: '127.0.0.1' });
  for (let sent = 1; sent <= 4; sent += 1) {
    const arrives = once(server, 'request');
    socket.write(GET);
    await arrives;
  }
  const closed = once(socket, 'close');
  socket.write(GET);
  await closed;
  expect(begun).toBe(4);
});

test('a connection has any number of requests one after the other', async () => {
  const port = await serve((_request, response) => response.end('ok'));
  const socket = connect({ port, host: '127.0.0.1' });
  for (let sent = 0; sent < 100; sent += 1) {
    const arrives = once(socket, 'data');
    socket.write(GET);
    await arrives;
  }
  socket.destroy();
});

test('each request of a connection begins after the reply to the one before', async () => {
  const events: string[] = [];
  const port = await serve(
    oneAtATime(({ url }, response) => {
      events.push(`${url} begins`);
      setImmediate(() => response.end('ok', () => events.push(`${url} is answered`)));
    }),
  );
  const get = (path: string, connection = 'keep-alive') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;
  expect(await countReplies(port, get('/1') + get('/2') + get('/3', 'close'))).toBe(3);
  const each = (path: string) => [`${path} begins`, `${path} is answered`];
  expect(events).toEqual(['/1', '/2', '/3'].flatMap(each));
});
