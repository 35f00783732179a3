import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { untilReady } from '@orders/test-services/apps.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { makeDirectory } from '../harness/directory.ts';
import { callEndpoint } from '../harness/event-receiver.ts';
import { type Listening, listen } from '../harness/listen.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { makeCertificates } from '../harness/tls-stores.ts';
import { useStack } from '../harness/use-stack.ts';

const directory = makeDirectory();
let certificate: { key: Buffer; cert: Buffer };
let receiver: Listening;

beforeAll(async () => {
  await makeCertificates((name) => join(directory, name));
  const [key, cert] = await Promise.all(['server.key', 'server.crt'].map((name) => readFile(join(directory, name))));
  certificate = { key: key as Buffer, cert: cert as Buffer };
  const server = createHttpsServer(certificate).on('request', (request, response) =>
    request.resume().on('end', () => response.writeHead(204).end()),
  );
  receiver = await listen(server);
});

/** Connects to the receiver, whatever the name. */
function tunnel(_request: IncomingMessage, socket: Socket): void {
  const target = connect(receiver.port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.destroy());
}

describeWith('openssl').each(['http', 'https'])('a forward proxy that is reached by %s', (scheme) => {
  /** What the proxy does with each CONNECT. */
  let onConnect: (request: IncomingMessage, socket: Socket) => void;
  const connects: IncomingMessage[] = [];
  /** Open connections to the proxy. */
  const sockets = new Set<Socket>();
  let proxy: Server;

  const { stack } = useStack();

  beforeAll(async () => {
    proxy = scheme === 'http' ? createHttpServer() : createHttpsServer(certificate);
    proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
      connects.push(request);
      // Reads, so that it notices when the notifier ends the connection.
      socket
        .on('error', () => {})
        .resume()
        .once('end', () => socket.destroy());
      onConnect(request, socket);
    });
    proxy.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const adminPort = await freePort();
    await startApp('notifier', {
      ...stack.env,
      ADMIN_PORT: String(adminPort),
      CALLBACK_PROXY: `${scheme}://user:p%40ss@localhost:${(await listen(proxy)).port}`,
      NODE_EXTRA_CA_CERTS: join(directory, 'ca.crt'),
    });
    await untilReady(adminPort);
  });

  const noConnections = () => until('no connection to the proxy is left', async () => sockets.size === 0);

  test('connects by name, with its credentials', async () => {
    onConnect = tunnel;
    expect(await callEndpoint(stack, 'https://localhost:8443/hook')).toMatchObject({ error: null, status: 204 });
    expect(connects.at(-1)?.url).toBe('localhost:8443');
    const credentials = Buffer.from('user:p@ss').toString('base64');
    expect(connects.at(-1)?.headers).toMatchObject({
      host: 'localhost:8443',
      'proxy-authorization': `Basic ${credentials}`,
    });
  });

  test('does not replace the check of the certificate of the endpoint', async () => {
    onConnect = tunnel;
    expect(await callEndpoint(stack, 'https://hooks.example/')).toMatchObject({ error: 'tls_failed', status: null });
  });

  test.each(['127.0.0.1', '[::1]', '8.8.8.8'])('is not asked for the address %s', async (host) => {
    const before = connects.length;
    expect(await callEndpoint(stack, `https://${host}/`)).toMatchObject({ error: 'address_refused' });
    expect(connects).toHaveLength(before);
  });

  test.each([403, 407, 410, 503])('fails an attempt with `proxy_failed` if it replies %s', async (status) => {
    onConnect = (_request, socket) => socket.write(`HTTP/1.1 ${status} No\r\nRetry-After: 3600\r\n\r\n`);
    expect(await callEndpoint(stack, 'https://hooks.example/')).toMatchObject({ error: 'proxy_failed', status: null });
    await noConnections();
  });

  test('fails an attempt if it closes the connection', async () => {
    onConnect = (_request, socket) => socket.destroy();
    expect(await callEndpoint(stack, 'https://hooks.example/')).toMatchObject({ error: 'proxy_failed', status: null });
  });

  test('holds no connection beyond the time of an attempt, if it or the host behind it hangs', async () => {
    onConnect = (request, socket) => {
      if (request.url?.startsWith('silent')) socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    };
    const attempts = await Promise.all(
      ['hangs', 'silent'].map((name) => callEndpoint(stack, `https://${name}.example/`)),
    );
    for (const { error, duration_ms } of attempts) {
      expect(error).toMatch(/^(timeout|proxy_failed)$/);
      expect(duration_ms).toBeLessThan(25_000);
    }
    await noConnections();
  });
});
