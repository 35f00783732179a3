import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { boundPipelining } from '../src/lifecycle/bound-pipelining.ts';

let server: Server;
afterEach(() => server.close().closeAllConnections());

async function serve(listener: RequestListener, maxInFlight?: number): Promise<number> {
  server = boundPipelining(createServer(listener), maxInFlight);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends bytes as one chunk, or in chunks of `size`. @returns the bodies of the replies. */
async function replies(port: number, bytes: string, size = bytes.length): Promise<string[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  for (let from = 0; from < bytes.length; from += size) {
    socket.write(bytes.slice(from, from + size));
    if (size < bytes.length) await new Promise(setImmediate);
  }
  const text = (await buffer(socket)).toString();
  return Array.from(text.matchAll(/\r\n\r\n([^\r\n]*?)(?=HTTP|$)/g), ([, body]) => body as string);
}

const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...lines]
    .map((line) => `${line}\r\n`)
    .join('')
    .concat('\r\n');
const post = (path: string, body: string, ...lines: string[]) =>
  get(path, `Content-Length: ${body.length}`, ...lines).replace('GET', 'POST') + body;
const chunked = (path: string, ...chunks: string[]) =>
  get(path, 'Transfer-Encoding: chunked').replace('GET', 'POST') +
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
const LAST = get('/last', 'Connection: close');

const digest = (body: string | Buffer) => createHash('md5').update(body).digest('hex');
const digestBody: RequestListener = async (request, response) => {
  const body = await buffer(request);
  response.end(`${request.url} ${digest(body)}`);
};

test('few requests begin in one turn of the event loop, however many arrive in it', async () => {
  let [inTurn, most] = [0, 0];
  const port = await serve((_request, response) => {
    if (inTurn++ === 0) {
      setImmediate(() => {
        inTurn = 0;
      });
    }
    most = Math.max(most, inTurn);
    response.writeHead(401).end('no');
  });
  const each = get('/').repeat(300) + LAST;
  const all = await Promise.all(Array.from({ length: 30 }, () => replies(port, each)));
  expect(all.map(({ length }) => length)).toEqual(Array(30).fill(301));
  // One of each connection at once, and those whose turn it is.
  expect(most).toBeLessThanOrEqual(46);
});

test('a connection has as many requests in flight as it may, and the others follow in their order', async () => {
  let [inFlight, most] = [0, 0];
  const port = await serve(async (request, response) => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inFlight -= 1;
    response.end(request.url);
  }, 3);
  const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
  expect(await replies(port, paths.map((path) => get(path)).join('') + LAST)).toEqual([...paths, '/last']);
  expect(most).toBe(3);
});

test.each([undefined, 1, 3, 50, 4096])(
  'bodies arrive whole, also if they look like heads, in chunks of %s bytes',
  async (size) => {
    const port = await serve(digestBody);
    const bodies = ['', '\r\n\r\n', get('/inside').repeat(20), 'x'.repeat(5000), '\r\n\r\n'.repeat(100)];
    const sent = bodies.flatMap((body) => {
      const chunks = Array.from({ length: body.length / 700 }, (_, index) =>
        body.slice(index * 700, index * 700 + 700),
      );
      return [
        post('/length', body),
        get('/none'),
        chunked('/chunks', ...chunks, body.slice(chunks.length * 700) || 'x'),
      ];
    });
    const expected = bodies.flatMap((body) => [
      `/length ${digest(body)}`,
      `/none ${digest('')}`,
      `/chunks ${digest(body || 'x')}`,
    ]);
    expect(await replies(port, sent.join('') + LAST, size)).toEqual([...expected, `/last ${digest('')}`]);
  },
);

test('a connection that reads its replies late gets all of them', async () => {
  const port = await serve((_request, response) => response.end('x'.repeat(200_000)));
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(get('/').repeat(100) + LAST);
  // Node pauses its parser when so many bytes wait to be read.
  await new Promise((resolve) => server.once('request', resolve));
  const text = (await buffer(socket)).toString();
  expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(101);
});

test('a request with an unknown expectation and its body do not confuse the next one', async () => {
  const port = await serve(digestBody);
  const odd = post('/odd', 'abc', 'Expect: something');
  expect(await replies(port, odd.repeat(30) + LAST)).toEqual([...Array(30).fill(''), `/last ${digest('')}`]);
});

test('nothing is answered after a request that closes the connection or that cannot be parsed', async () => {
  const port = await serve(digestBody);
  expect(await replies(port, LAST + get('/after').repeat(100))).toEqual([`/last ${digest('')}`]);
  expect(await replies(port, `${get('/')}nonsense\r\n\r\n${get('/after')}`)).toEqual([`/ ${digest('')}`, '']);
});
