import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { until } from '@orders/test-services/until.ts';
import { type Haproxy, startHaproxy } from '../harness/haproxy.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

/** The limit of connections of one address in this test (500 as shipped). haproxy accepts 200 connections in total. */
const LIMIT = 50;
const HALF_OPEN = 300;

describeWith('haproxy')('haproxy before intake', () => {
  let haproxy: Haproxy;
  const sockets: Socket[] = [];

  const { stack, db, account } = useStack({ account: true });

  beforeAll(async () => {
    haproxy = await startHaproxy({ connectionsByAddress: LIMIT });
    const { port, adminPort } = haproxy.ports.intake1;
    await stack.intake({ PORT: String(port), ADMIN_PORT: String(adminPort) });
    await haproxy.untilUp('intake1');
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
  });

  function open(localAddress: string): Socket {
    const { port } = new URL(haproxy.url);
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
    // A rejected connection may be reset.
    sockets.push(socket.on('error', () => {}));
    return socket;
  }
  const orderOf = (name: string, key = account.key) => {
    const body = JSON.stringify({ source_order_id: name });
    const head = [
      'POST /ingest/orders HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      'X-Forwarded-For: 127.0.0.2',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    return { head: `${head.join('\r\n')}\r\n\r\n`, body };
  };
  /** @returns the status line of the reply, or an empty string if the connection was closed. */
  async function send(localAddress: string, name: string, key?: string): Promise<string> {
    const socket = open(localAddress);
    const { head, body } = orderOf(name, key);
    socket.write(head + body);
    const reply = await text(socket).catch(() => '');
    return reply.split('\r\n')[0] ?? '';
  }

  test('an address with many incomplete request heads gets a limited number of connections, and others are served', async () => {
    const halfOpen = Array.from({ length: HALF_OPEN }, () => open('127.0.0.3'));
    for (const socket of halfOpen) socket.resume().write('POST /ingest/orders HTTP/1.1\r\nHost: x\r\n');
    const left = () => halfOpen.filter((socket) => !socket.closed);
    await until('connections above the limit are closed', async () => left().length <= LIMIT);
    expect(left()).toHaveLength(LIMIT);
    expect(await send('127.0.0.2', 'another')).toBe('HTTP/1.1 202 Accepted');
    expect(await send('127.0.0.3', 'the same')).toBe('');
    for (const socket of halfOpen) socket.destroy();
    await until('the address is served again', async () => (await send('127.0.0.3', 'again')).includes('202'));
  });

  test('a TLS proxy on the same host has no limit of connections', async () => {
    const connections = Array.from({ length: LIMIT + 20 }, () => open('127.0.0.1'));
    for (const socket of connections) socket.resume().write('POST /ingest/orders HTTP/1.1\r\nHost: x\r\n');
    expect(await send('127.0.0.1', 'by the proxy')).toBe('HTTP/1.1 202 Accepted');
    expect(connections.filter((socket) => socket.closed)).toEqual([]);
    for (const socket of connections) socket.destroy();
  });

  test('intake learns the address of the client, whatever the client claims', async () => {
    const { key } = await createKey(db, account.id, 'limited', { addresses: ['127.0.0.2'] });
    expect(await send('127.0.0.2', 'from there', key)).toBe('HTTP/1.1 202 Accepted');
    expect(await send('127.0.0.3', 'from elsewhere', key)).toBe('HTTP/1.1 403 Forbidden');
    // A TLS proxy on the same host has overwritten the header.
    expect(await send('127.0.0.1', 'by the TLS proxy', key)).toBe('HTTP/1.1 202 Accepted');
  });

  test('intake receives a request only when its body is complete', async () => {
    const before = await haproxy.forwarded();
    const slow = open('127.0.0.1');
    const { head, body } = orderOf('slow');
    slow.write(head + body.slice(0, 5));
    expect(await send('127.0.0.2', 'quick')).toBe('HTTP/1.1 202 Accepted');
    expect(await haproxy.forwarded()).toBe(before + 1);
    slow.write(body.slice(5));
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 202 /);
    expect(await haproxy.forwarded()).toBe(before + 2);
  });
});
