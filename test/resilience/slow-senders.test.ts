import { describe, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { createBoundedServer } from '../../packages/http/src/create-bounded-server.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { head, openRaw, type RawConnection } from '../harness/raw-http.ts';
import { readGauge } from '../harness/read-metrics.ts';
import type { RunningIntake } from '../harness/stack.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

/** Far below any timeout, so that the connection never counts as silent. */
const DRIP_MS = 50;
let intake: RunningIntake;

const { stack, knex, account } = useStack({ account: true });

const open = (): RawConnection => openRaw(intake.api.url);

/** Sends `bytes` one at a time, and then spaces, until the connection ends. */
function drip({ socket }: RawConnection, bytes = ''): void {
  let sent = 0;
  const dripping = setInterval(() => !socket.destroyed && socket.write(bytes[sent++] ?? ' '), DRIP_MS);
  closeAfterTest({ close: async () => clearInterval(dripping) });
}

const orderHead = (...headers: [string, string | number][]) =>
  head('POST /ingest/orders HTTP/1.1', [
    ['Host', 'x'],
    ['Authorization', `Bearer ${account.key}`],
    ['Content-Type', 'application/json'],
    ...headers,
  ]);

function sendOrder({ socket }: RawConnection, body: string, ...headers: [string, string | number][]): void {
  socket.write(Buffer.concat([orderHead(['Content-Length', Buffer.byteLength(body)], ...headers), Buffer.from(body)]));
}

const send = (id: string) => intake.api.order(account, { source_order_id: id });

/** Whether a connection gets its reply. By then, everything sent earlier on other connections was read. */
async function isServed(connection: RawConnection): Promise<boolean> {
  connection.socket.write(head('GET /none HTTP/1.1', [['Host', 'x']]));
  return (await connection.reply())?.status === 404;
}

test('the head of a request gets half of its time', () => {
  const server = createBoundedServer({ MAX_CONNECTIONS: 1, REQUEST_TIMEOUT: 3000, IDLE_TIMEOUT: 1000 });
  expect([server.headersTimeout, server.requestTimeout]).toEqual([1500, 3000]);
});

describe('a sender of single bytes', () => {
  test('is cut off with 408 in the request line or headers', async () => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '2s' }));
    const heads = ['POST /ingest/orders?', 'POST /ingest/orders HTTP/1.1\r\nHost: x\r\nX: '];
    const slow = heads.map((begin) => {
      const connection = open();
      connection.socket.write(begin);
      drip(connection, 'x'.repeat(10_000));
      return connection;
    });
    const replies = await Promise.all(slow.map((connection) => connection.reply()));
    expect(replies.map((reply) => reply?.status)).toEqual([408, 408]);
    await Promise.all(slow.map(({ closed }) => closed));
  });

  test.each([
    ['a body of announced length', ['Content-Length', 10_000], ''],
    ['a body in chunks', ['Transfer-Encoding', 'chunked'], '1\r\n \r\n'.repeat(1000)],
  ] as const)('of %s is cut off with 408, blocks no slot and leaves nothing behind', async (_what, framing, bytes) => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '4s', MAX_IN_FLIGHT: '4' }));
    const before = await countStored(knex);
    const slow = [open(), open(), open(), open()];
    for (const connection of slow) {
      connection.socket.write(orderHead([...framing], ['X-Request-Id', 'slow']));
      drip(connection, bytes);
    }
    await isServed(open());
    expect((await send('')).status).toBe(422);
    const replies = await Promise.all(slow.map((connection) => connection.reply()));
    expect(replies.map((reply) => reply?.status)).toEqual([408, 408, 408, 408]);
    expect(await countStored(knex)).toBe(before);
    const logged = () => intake.log.lines.filter((line) => line.request_id === 'slow');
    await until('all are logged', async () => logged().length === 4);
    expect(logged().map(({ status }) => status)).toEqual([408, 408, 408, 408]);
    expect((await send(`after ${framing[0]}`)).status).toBe(202);
  });

  test('of a body that was already rejected holds no slot and is cut off', async () => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '1s', MAX_IN_FLIGHT: '1' }));
    const slow = open();
    slow.socket.write(orderHead(['Content-Length', 10_000_000]));
    drip(slow);
    expect((await slow.reply())?.body.code).toBe('payload_too_large');
    expect((await send('')).status).toBe(422);
    // There is only one reply to the request.
    expect(await slow.reply()).toBeNull();
  });

  test.each([
    ['head', () => 'POST /ingest/orders HTTP/1.1\r\nX: '],
    ['body', () => orderHead(['Content-Length', 10_000])],
  ])('of the %s of a second request does not affect the order and the reply of the first', async (part, begin) => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '1s' }));
    const both = open();
    sendOrder(both, JSON.stringify({ source_order_id: `before a slow ${part}` }), ['Prefer', 'wait=2']);
    both.socket.write(begin());
    drip(both, 'x'.repeat(10_000));
    expect((await both.reply())?.status).toBe(202);
    await both.closed;
  });
});

test('a pipelined request is read after the reply before it: until then it takes no memory, no slot and no place', async () => {
  intake = closeAfterTest(await stack.intake());
  const gauge = (name: string) => readGauge(intake.adminUrl, `intake_${name}`);
  const both = open();
  sendOrder(both, '{"source_order_id":"waits"}', ['Prefer', 'wait=30']);
  both.socket.write(orderHead(['Content-Length', 1000]));
  both.socket.write('{"source_order_id":');
  await until('the first is accepted', async () => knex('receipts').where({ source_order_id: 'waits' }).first());
  await isServed(open());
  expect([await gauge('body_bytes_in_flight'), await gauge('orders_in_flight')]).toEqual([0, 0]);
  both.socket.destroy();

  const worker = closeAfterTest(await stack.worker());
  const later = open();
  sendOrder(later, '{"source_order_id":"first"}', ['Prefer', 'wait=30']);
  sendOrder(later, '{"source_order_id":"second"}');
  expect((await later.reply())?.body.status).toBe('written');
  expect((await later.reply())?.status).toBe(202);
  await worker.close();
});

describe('a connection', () => {
  test('that is silent before or after a request is closed', async () => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '2s', IDLE_TIMEOUT: '1s' }));
    const used = await until('one is served', async () => {
      const connection = open();
      return (await isServed(connection)) && connection;
    });
    await Promise.all([open().closed, used.closed]);
  });

  test('that is silent does not block others, not even a thousand of them', async () => {
    intake = closeAfterTest(await stack.intake({ REQUEST_TIMEOUT: '1h', IDLE_TIMEOUT: '1h' }));
    const idle: RawConnection[] = [];
    while (idle.length < 1000) {
      // At most as many at once as fit into the listen backlog.
      const [unused, used] = [Array.from({ length: 125 }, open), Array.from({ length: 125 }, open)];
      expect(await Promise.all(used.map(isServed))).not.toContain(false);
      idle.push(...unused, ...used);
    }
    expect((await send('beside a thousand')).status).toBe(202);
    expect(idle.filter(({ socket }) => socket.destroyed).length).toBe(0);
  });

  test('that reads no replies is closed', async () => {
    intake = closeAfterTest(await stack.intake({ IDLE_TIMEOUT: '500ms', MAX_CONNECTIONS: '1' }));
    const unread = await until('it has the only slot', async () => {
      const connection = open();
      return (await isServed(connection)) && connection;
    });
    unread.socket.pause();
    unread.socket.write(Buffer.concat(Array(400).fill(head('GET /openapi.json HTTP/1.1', [['Host', 'x']]))));
    await until('a connection is free', () => isServed(open()));
  });

  test('that waits for an outcome may be silent for longer', async () => {
    intake = closeAfterTest(await stack.intake({ IDLE_TIMEOUT: '500ms' }));
    const waiting = open();
    sendOrder(waiting, '{"source_order_id":"patient"}', ['Prefer', 'wait=2']);
    expect((await waiting.reply())?.status).toBe(202);
  });
});

test('above MAX_CONNECTIONS is closed at once and counted, and a free place is used again', async () => {
  intake = closeAfterTest(await stack.intake({ MAX_CONNECTIONS: '5' }));
  const inside: RawConnection[] = [];
  await until('all connections are used', async () => {
    const connection = open();
    const served = await isServed(connection);
    if (served) inside.push(connection);
    return !served;
  });
  expect(inside.length).toBeGreaterThan(1);
  expect(await Promise.all(Array.from({ length: 20 }, () => isServed(open())))).not.toContain(true);
  for (const [index, connection] of inside.entries()) {
    sendOrder(connection, `{"source_order_id":"inside ${index}"}`);
    expect((await connection.reply())?.status).toBe(202);
  }
  expect(await readGauge(intake.adminUrl, 'intake_dropped_connections_total')).toBeGreaterThanOrEqual(20);
  inside[0]?.socket.destroy();
  await until('a connection is free', () => isServed(open()));
});
