import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { openFailFastRedis } from '@orders/queue/open-redis.ts';
import { type Child, startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { type LocalRedis, startRedis } from '@orders/test-services/redis.ts';
import { until } from '@orders/test-services/until.ts';
import { Redis } from 'ioredis';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { describeWith, testWith } from '../harness/programs.ts';
import { expectOrderFlow, expectSettled, written } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount, untilQueueIs } from '../harness/stack.ts';

const ORDERS = 300;
const PRIMARY = 'orders';
/** Contains a comma, an @ and a colon, which must be encoded in a URL. */
const PASSWORD = 'a,b@c:d';
const SENTINELS = 3;
/** A primary that does not reply for this time is replaced. */
const DOWN_AFTER_MS = 1500;

describeWith('redis-server')('the queue on a Redis that Sentinels watch', () => {
  let queue: SentinelQueue;
  let stack: Stack;
  let intakes: RunningIntake[];
  let account: TestAccount;

  beforeAll(async () => {
    queue = await startSentinelQueue();
    stack = await startStack('redis', { queue });
    // No sweep replaces a lost wake-up.
    intakes = [await stack.intake({ SWEEP_AFTER: '60s' }), await stack.intake({ SWEEP_AFTER: '60s' })];
    account = await stack.account();
  });

  /** Waits until an order is written before any sweep, which shows that a producer and a worker found the primary. */
  async function untilAnswered(): Promise<void> {
    for (const { api } of intakes)
      await until('a wake-up is processed', async () => {
        const source_order_id = `answered-${Date.now()}`;
        const { body } = await api.order(account, { source_order_id }, { Prefer: 'wait=2' });
        return body.status === 'written';
      });
  }

  test('writes an order, a changed delivery and a webhook of the same order with their expected states', async () => {
    await expectOrderFlow(stack, intakes);
    await untilQueueIs('ok', intakes[0] as RunningIntake);
  });

  test.each(['frozen', 'killed'] as const)(
    'with a primary that is %s accepts each order and loses none, and the replica takes over',
    async (how) => {
      const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
      await untilAnswered();
      const [loaded, sender] = [await stack.intake(), await stack.account()];
      const primary = await queue.primary();
      if (how === 'frozen') process.kill(primary.child.pid, 'SIGSTOP');
      else await primary.child.stop('SIGKILL');
      const receiptIds: string[] = [];
      for (let index = 0; index < ORDERS; index += 1) {
        const { status, body } = await loaded.api.order(sender, { source_order_id: `order-${index}` });
        expect(status).toBe(202);
        receiptIds.push(body.receipt_id);
      }
      await until('the other one is the primary', async () => (await queue.primary()).port !== primary.port);
      await untilAnswered();
      if (how === 'frozen') {
        process.kill(primary.child.pid, 'SIGCONT');
        await queue.untilWhole();
      }
      const sweeping = await stack.worker();
      await expectSettled(stack, sender, written(receiptIds));
      for (const service of [loaded, worker, sweeping]) await service.close();
    },
  );
});

testWith('redis-server')(
  'a failover that is told while the Sentinels are asked for the primary ends no connection',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'orders-sentinel-'));
    const start = (name: string) => startRedis({ directory: join(directory, name) });
    const [first, second] = [await start('1'), await start('2')];
    const sentinel = await startScriptedSentinel(first.port);
    const client = openFailFastRedis(`redis-sentinel://127.0.0.1:${sentinel.port}/${PRIMARY}`, { timeoutMs: 60_000 });
    try {
      await until(
        'the client is told of failovers',
        async () => client.status === 'ready' && sentinel.subscribers.size === 1,
      );
      sentinel.hold();
      await first.child.stop('SIGKILL');
      await until('the client asks for the primary', async () => sentinel.held.length === 1);
      for (const socket of sentinel.subscribers) socket.write(reply('message', '+switch-master', PRIMARY));
      await until('the client ends its subscription', async () => sentinel.subscribers.size === 0);
      sentinel.release(second.port);
      await until('the client is connected', async () => ['ready', 'end'].includes(client.status));
      expect(client.status).toBe('ready');
    } finally {
      client.disconnect();
      await sentinel.close();
      for (const { child } of [first, second]) await child.stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    }
  },
);

/** An array of bulk strings in the protocol of Redis. */
const reply = (...texts: string[]) =>
  `*${texts.length}\r\n${texts.map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`).join('')}`;

/** A Sentinel that tells the primary when the test says so. */
async function startScriptedSentinel(port: number) {
  const subscribers = new Set<Socket>();
  const held: Socket[] = [];
  let primary: number | null = port;
  const tell = (socket: Socket) => socket.write(reply('127.0.0.1', String(primary)));
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => subscribers.delete(socket));
    socket.setEncoding('utf8').on('data', (commands: string) => {
      for (const [, name = ''] of commands.matchAll(/\*\d+\r\n\$\d+\r\n(?:sentinel\r\n\$\d+\r\n)?([\w-]+)/gi)) {
        if (name === 'get-master-addr-by-name') {
          if (primary === null) held.push(socket);
          else tell(socket);
        } else if (name === 'subscribe') {
          subscribers.add(socket);
          socket.write('*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n');
        } else socket.write(name === 'sentinels' ? '*0\r\n' : `-ERR unknown command '${name}'\r\n`);
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    subscribers,
    held,
    hold() {
      primary = null;
    },
    release(newPrimary: number) {
      primary = newPrimary;
      for (const socket of held) tell(socket);
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Two Redis, one the replica of the other, and three Sentinels that replace a primary. */
interface SentinelQueue {
  url: string;
  /** The primary by the Sentinels now. */
  primary(): Promise<LocalRedis>;
  /** Waits until the Sentinels know both Redis and each other, so that they can replace the primary. */
  untilWhole(): Promise<void>;
  close(): Promise<void>;
}

async function startSentinelQueue(): Promise<SentinelQueue> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-sentinel-'));
  const settings = { requirepass: PASSWORD, masterauth: PASSWORD };
  const first = await startRedis({ directory: join(directory, '1'), settings });
  const replicaof = `127.0.0.1 ${first.port}`;
  const second = await startRedis({ directory: join(directory, '2'), settings: { ...settings, replicaof } });
  const sentinels: { child: Child; client: Redis; port: number }[] = [];
  while (sentinels.length < SENTINELS) {
    const port = await freePort();
    const file = join(directory, `sentinel-${port}.conf`);
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      `sentinel monitor ${PRIMARY} 127.0.0.1 ${first.port} 2`,
      `sentinel auth-pass ${PRIMARY} ${PASSWORD}`,
      `sentinel down-after-milliseconds ${PRIMARY} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${PRIMARY} 10000`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const child = await startChild(first.program, [file, '--sentinel']);
    const client = new Redis({ port, maxRetriesPerRequest: 0, disconnectTimeout: 200 });
    client.on('error', () => {});
    sentinels.push({ child, client, port });
  }

  const ask = (command: string) =>
    Promise.any(sentinels.map(({ client }) => client.call('SENTINEL', command, PRIMARY))) as Promise<string[]>;

  async function isWhole({ client }: { client: Redis }): Promise<boolean> {
    const [state] = (await client.call('SENTINEL', 'MASTERS').catch(() => [])) as string[][];
    const field = (name: string) => state?.[state.indexOf(name) + 1];
    return (
      field('flags') === 'master' && field('num-slaves') === '1' && field('num-other-sentinels') === `${SENTINELS - 1}`
    );
  }

  const queue = closeAtEnd<SentinelQueue>({
    url: `redis-sentinel://default:${encodeURIComponent(PASSWORD)}@${sentinels.map(({ port }) => `127.0.0.1:${port}`)}/${PRIMARY}`,
    async primary() {
      const [, port] = await ask('GET-MASTER-ADDR-BY-NAME');
      return Number(port) === first.port ? first : second;
    },
    async untilWhole() {
      await until('all Sentinels know all', async () => (await Promise.all(sentinels.map(isWhole))).every(Boolean));
      const { port } = await queue.primary();
      const client = new Redis({ port, password: PASSWORD });
      await until('the replica follows', async () => (await client.info('replication')).includes('state=online'));
      client.disconnect();
    },
    async close() {
      for (const { child, client } of sentinels) {
        client.disconnect();
        await child.stop('SIGKILL');
      }
      for (const { child } of [first, second]) await child.stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  });
  await queue.untilWhole();
  return queue;
}
