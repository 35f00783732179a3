import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { countStored } from '../harness/count-stored.ts';
import { head, openRaw, type RawConnection } from '../harness/raw-http.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** How often a dripping sender sends its next byte: far more often than any timeout, so that none of them sees silence. */
const DRIP_MS = 50;

let stack: Stack;
let account: TestAccount;
let intake: RunningIntake;
const opened: RawConnection[] = [];
const drips: NodeJS.Timeout[] = [];

beforeAll(async () => {
  stack = await startStack('postgres');
  account = await stack.account();
});
afterAll(() => stack.close());
afterEach(async () => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const { socket } of opened.splice(0)) socket.destroy();
  await intake.close();
});

function open(): RawConnection {
  const connection = openRaw(intake.api.url);
  opened.push(connection);
  return connection;
}

/** Sends `bytes` one at a time, and then spaces, until the connection ends. */
function drip({ socket }: RawConnection, bytes = ''): void {
  let sent = 0;
  drips.push(setInterval(() => !socket.destroyed && socket.write(bytes[sent++] ?? ' '), DRIP_MS));
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

/** Whether a connection gets its reply. What was sent on others before has been read by then. */
async function isServed(connection: RawConnection): Promise<boolean> {
  connection.socket.write(head('GET /none HTTP/1.1', [['Host', 'x']]));
  return (await connection.reply())?.status === 404;
}

const TOO_LONG_MS = 15_000;

describe('a sender that drips', () => {
  test('the request line or headers is cut off with 408, sooner than one that drips its body', async () => {
    intake = await stack.intake({ REQUEST_TIMEOUT: '3s' });
    const begun = [
      'POST /ingest/orders?',
      'POST /ingest/orders HTTP/1.1\r\nHost: x\r\nX: ',
      orderHead(['Content-Length', 10_000]),
    ];
    const slow = begun.map((begin) => {
      const connection = open();
      connection.socket.write(begin);
      drip(connection, 'x'.repeat(10_000));
      return connection;
    });
    const replies = slow.map((connection) => connection.reply(TOO_LONG_MS));
    expect((await replies[0])?.status).toBe(408);
    expect((await replies[1])?.status).toBe(408);
    expect(await Promise.race([replies[2], 'none yet'])).toBe('none yet');
    await Promise.all(slow.map(({ closed }) => closed));
  });

  test.each([
    ['a body of announced length', ['Content-Length', 10_000], ''],
    ['a body in chunks', ['Transfer-Encoding', 'chunked'], '1\r\n \r\n'.repeat(1000)],
  ] as const)(
    '%s is cut off with 408, takes no slot from others meanwhile, and leaves nothing',
    async (_what, framing, bytes) => {
      intake = await stack.intake({ REQUEST_TIMEOUT: '1500ms', MAX_IN_FLIGHT: '4' });
      const before = await countStored(stack.database.knex);
      const slow = [open(), open(), open(), open()];
      for (const connection of slow) {
        connection.socket.write(orderHead([...framing], ['X-Request-Id', 'slow']));
        drip(connection, bytes);
      }
      await isServed(open());
      expect((await send('')).status).toBe(422);
      const replies = await Promise.all(slow.map((connection) => connection.reply(TOO_LONG_MS)));
      expect(replies.map((reply) => reply?.status)).toEqual([408, 408, 408, 408]);
      expect(await countStored(stack.database.knex)).toBe(before);
      const logged = () => intake.log.lines.filter((line) => line.request_id === 'slow');
      await until('all are logged', async () => logged().length === 4);
      expect(logged().map(({ status }) => status)).toEqual([408, 408, 408, 408]);
      expect((await send(`after ${framing[0]}`)).status).toBe(202);
    },
  );

  test('a body behind its refusal holds no slot, and is cut off too', async () => {
    intake = await stack.intake({ REQUEST_TIMEOUT: '1s', MAX_IN_FLIGHT: '1' });
    const slow = open();
    slow.socket.write(orderHead(['Content-Length', 10_000_000]));
    drip(slow);
    expect((await slow.reply())?.body.code).toBe('payload_too_large');
    expect((await send('')).status).toBe(422);
    // One request, one reply.
    expect(await slow.reply(TOO_LONG_MS)).toBeNull();
  });

  test('a second request costs the first neither its order nor its reply', async () => {
    intake = await stack.intake({ REQUEST_TIMEOUT: '1s' });
    const both = open();
    sendOrder(both, '{"source_order_id":"before a slow one"}', ['Prefer', 'wait=2']);
    both.socket.write('POST /ingest/orders HTTP/1.1\r\nX: ');
    drip(both, 'x'.repeat(10_000));
    expect((await both.reply(TOO_LONG_MS))?.status).toBe(202);
    await both.closed;
  });
});

test('what a body holds is given back when a connection breaks on which several requests wait', async () => {
  intake = await stack.intake();
  const bytes = async () => {
    const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
    return Number(/^intake_body_bytes_in_flight (\d+)$/m.exec(metrics)?.[1]);
  };
  const broken = open();
  sendOrder(broken, '{"source_order_id":"waits"}', ['Prefer', 'wait=30']);
  await until('the first is accepted', async () =>
    stack.database.knex('receipts').where({ source_order_id: 'waits' }).first(),
  );
  broken.socket.write(orderHead(['Content-Length', 1000]));
  broken.socket.write('0123456789');
  await until('the second is counted', async () => (await bytes()) === 1000);
  broken.socket.destroy();
  await until('nothing is held any more', async () => (await bytes()) === 0);
});

describe('a connection', () => {
  test('that says nothing, before or after a request, keeps no other from being served, and is closed', async () => {
    intake = await stack.intake({ REQUEST_TIMEOUT: '8s', IDLE_TIMEOUT: '4s' });
    const idle: RawConnection[] = [];
    while (idle.length < 1000) {
      // No more at once than a server lets wait to be accepted.
      const [unused, used] = [Array.from({ length: 125 }, open), Array.from({ length: 125 }, open)];
      expect(await Promise.all(used.map(isServed))).not.toContain(false);
      idle.push(...unused, ...used);
    }
    const startedAt = Date.now();
    expect((await send('beside a thousand')).status).toBe(202);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    expect(idle.some(({ socket }) => socket.destroyed)).toBe(false);
    await Promise.all(idle.map(({ closed }) => closed));
  });

  test('that takes no replies is closed', async () => {
    intake = await stack.intake({ IDLE_TIMEOUT: '500ms', MAX_CONNECTIONS: '1' });
    const deaf = await until('it has the only slot', async () => {
      const connection = open();
      return (await isServed(connection)) && connection;
    });
    deaf.socket.pause();
    deaf.socket.write(Buffer.concat(Array(400).fill(head('GET /openapi.json HTTP/1.1', [['Host', 'x']]))));
    await until('there is room for one more', () => isServed(open()));
  });

  test('whose request waits for its outcome may be silent for longer', async () => {
    intake = await stack.intake({ IDLE_TIMEOUT: '500ms' });
    const patient = open();
    sendOrder(patient, '{"source_order_id":"patient"}', ['Prefer', 'wait=2']);
    expect((await patient.reply())?.status).toBe(202);
  });
});

test('connections beyond MAX_CONNECTIONS are closed at once and counted; those inside are served, and one that goes makes room', async () => {
  intake = await stack.intake({ MAX_CONNECTIONS: '5' });
  const inside: RawConnection[] = [];
  await until('it is full', async () => {
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
  const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
  expect(Number(/^intake_dropped_connections_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(20);
  inside[0]?.socket.destroy();
  await until('there is room', () => isServed(open()));
});
