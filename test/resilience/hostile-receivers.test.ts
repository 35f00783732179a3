import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createEndpoint, listAttempts } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { makeDirectory } from '../harness/directory.ts';
import { callEndpoint, startEventReceiver } from '../harness/event-receiver.ts';
import { listen } from '../harness/listen.ts';
import { startApp } from '../harness/processes.ts';
import { testWith } from '../harness/programs.ts';
import { withStack } from '../harness/stack.ts';
import { makeCertificates } from '../harness/tls-stores.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex } = useStack({ notifier: true });

/** Calls a server that writes this after the head of the request. */
async function callWriting(write: (socket: Socket) => void) {
  const { url } = await listen(createServer((socket) => socket.once('data', () => write(socket))));
  return callEndpoint(stack, `${url}/`);
}

/** Writes until the connection is closed. */
function writeForever(socket: Socket, chunk: Buffer | string, pauseMs: number): void {
  const timer = setInterval(() => socket.write(chunk), pauseMs);
  socket.once('close', () => clearInterval(timer));
}

test('a redirect is not followed', async () => {
  const [receiver, target] = [await startEventReceiver(), await startEventReceiver()];
  receiver.respond((_received, response) => response.writeHead(307, { Location: target.url }).end());
  expect(await callEndpoint(stack, receiver.url)).toMatchObject({ error: 'redirect', status: 307 });
  expect(target.received).toEqual([]);
});

describe('an attempt fails', () => {
  test.each<[string, string, (socket: Socket) => void]>([
    ['if the reply is not HTTP', 'invalid_response', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
    [
      'if the header is larger than 16 KiB',
      'invalid_response',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
      },
    ],
    ['if the connection is closed', 'connection_failed', (socket) => socket.end()],
    [
      'if the reply changes the protocol',
      'connection_failed',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
    ['if the connection is reset', 'connection_failed', (socket) => socket.resetAndDestroy()],
  ])('%s', async (_name, error, write) => {
    expect(await callWriting(write)).toMatchObject({ error, status: null });
  });

  test('if there is no status within 15 seconds, however slow it comes', async () => {
    const attempts = await Promise.all([
      callWriting(() => {}),
      callWriting((socket) => writeForever(socket, 'H', 500)),
      callWriting((socket) => {
        socket.write('HTTP/1.1 ');
        writeForever(socket, '2', 500);
      }),
      callWriting((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        writeForever(socket, 'a: b\r\n', 500);
      }),
      callWriting((socket) => writeForever(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 2000)),
    ]);
    for (const { error, status } of attempts) {
      expect(error).toMatch(/^(timeout|invalid_response)$/);
      expect(status).toBeNull();
    }
    expect(attempts.filter(({ error }) => error === 'timeout').length).toBeGreaterThanOrEqual(3);
  });

  test('if interim responses never end', async () => {
    const flood = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000);
    const attempt = await callWriting((socket) => writeForever(socket, flood, 1));
    expect(attempt).toMatchObject({ error: 'invalid_response', status: null });
  });

  testWith('openssl')('if no certificate that this machine trusts is shown', async () => {
    const directory = makeDirectory();
    await makeCertificates((name) => join(directory, name));
    const server = createHttpsServer({
      key: await readFile(join(directory, 'server.key')),
      cert: await readFile(join(directory, 'server.crt')),
    });
    server.on('request', (request, response) => request.resume().on('end', () => response.writeHead(204).end()));
    const url = `https://localhost:${(await listen(server)).port}/`;
    await withStack('postgres', async (tls) => {
      const adminPort = await freePort();
      const env = { ...tls.env, ADMIN_PORT: String(adminPort), CALLBACK_ALLOW: 'localhost:*' };
      const distrusting = await startApp('notifier', env);
      await untilReady(adminPort);
      expect(await callEndpoint(tls, url)).toMatchObject({ error: 'tls_failed', status: null });
      await distrusting.stop();
      const trusting = await startApp('notifier', { ...env, NODE_EXTRA_CA_CERTS: join(directory, 'ca.crt') });
      await untilReady(adminPort);
      expect(await callEndpoint(tls, url)).toMatchObject({ error: null, status: 204 });
      await trusting.stop();
    });
  });
});

testWith('openssl')('a server that wants a finite-field key exchange gets no handshake', async () => {
  const directory = makeDirectory();
  const file = (name: string) => join(directory, name);
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    file('key'),
    '-out',
    file('crt'),
    ...names,
  ];
  execFileSync('openssl', request, { stdio: 'pipe' });
  const options = {
    key: await readFile(file('key')),
    cert: await readFile(file('crt')),
    maxVersion: 'TLSv1.2' as const,
  };
  const portWith = async (ciphers: string) => {
    const server = createHttpsServer({ ...options, ciphers, dhparam: 'auto' }, (received, response) =>
      received.resume().on('end', () => response.writeHead(204).end()),
    );
    return (await listen(server)).port;
  };
  const finite = await portWith('DHE-RSA-AES128-GCM-SHA256');
  const elliptic = await portWith('ECDHE-RSA-AES128-GCM-SHA256');
  await withStack('postgres', async (tls) => {
    const adminPort = await freePort();
    const env = { ...tls.env, ADMIN_PORT: String(adminPort), NODE_EXTRA_CA_CERTS: file('crt') };
    const notifier = await startApp('notifier', { ...env, CALLBACK_ALLOW: 'localhost:*' });
    await untilReady(adminPort);
    expect(await callEndpoint(tls, `https://localhost:${finite}/`)).toMatchObject({
      error: 'tls_failed',
      status: null,
    });
    expect(await callEndpoint(tls, `https://localhost:${elliptic}/`)).toMatchObject({ error: null, status: 204 });
    await notifier.stop();
  });
});

test('bodies that never end hold at most one connection for each attempt of a round', async () => {
  let connections = 0;
  let most = 0;
  const server = createServer((socket) => {
    connections += 1;
    most = Math.max(most, connections);
    socket.once('close', () => {
      connections -= 1;
    });
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nx'));
  });
  const { id: accountId } = await stack.account();
  await setEvents(connectionOf(knex), accountId, true);
  const url = `${(await listen(server)).url}/`;
  const endpoint = await createEndpoint(connectionOf(knex), stack.secretsKey, { accountId, url, types: null });
  await knex.raw(
    `insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, details)
     select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'x', '{}' from generate_series(1, 30) as n`,
    [accountId],
  );
  await until(
    'each is delivered',
    async () => (await listAttempts(connectionOf(knex), endpoint, { limit: 100 })).length === 30,
  );
  expect(most).toBeLessThanOrEqual(11);
});

describe('an attempt succeeds', () => {
  test.each<[string, (socket: Socket) => void]>([
    [
      'although the body never ends',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        writeForever(socket, Buffer.alloc(65_536), 1);
      },
    ],
    [
      'although the body never comes',
      (socket) => {
        socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 100000000\r\n\r\n');
      },
    ],
    ['although the body is cut off', (socket) => socket.end('HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nx')],
  ])('%s', async (_name, write) => {
    expect(await callWriting(write)).toMatchObject({ error: null });
  });
});
