import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { type LocalRedis, startRedis } from '@orders/test-services/redis.ts';
import { until } from '@orders/test-services/until.ts';
import { Redis } from 'ioredis';
import { closeAtEnd } from './close-at-end.ts';

/** Two Redis, one the replica of the other, and three Sentinels that replace a primary. */
export interface SentinelQueue {
  url: string;
  /** The primary by the Sentinels now. */
  primary(): Promise<LocalRedis>;
  /** Waits until the Sentinels know both Redis and each other, so that they can replace the primary. */
  untilWhole(): Promise<void>;
  close(): Promise<void>;
}

const PRIMARY = 'orders';
/** Contains a comma, an @ and a colon, which must be encoded in a URL. */
const PASSWORD = 'a,b@c:d';
const SENTINELS = 3;
/** A primary that does not reply for this time is replaced. */
const DOWN_AFTER_MS = 1500;

export async function startSentinelQueue(): Promise<SentinelQueue> {
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
