import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@orders/test-services/ports.ts';
import { type LocalRedis, startRedis } from '@orders/test-services/redis.ts';
import { until } from '@orders/test-services/until.ts';
import { Redis } from 'ioredis';
import { closeAtEnd } from './close-at-end.ts';

/** A real Redis Cluster whose nodes can be killed and frozen. */
export interface TestCluster {
  url: string;
  close(): Promise<void>;
  /** The current master of a key's slot, according to the reachable nodes. */
  masterOf(key: string): Promise<ClusterNode>;
  /** All keys of all masters. */
  keys(): Promise<string[]>;
}

interface ClusterNode {
  port: number;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Waits until it replicates a master and can replace it. */
  untilReplica(): Promise<void>;
}

interface Node extends ClusterNode {
  redis: LocalRedis;
  busPort: number;
  client: Redis;
}

const MASTERS = 3;
const SLOTS = 16_384;
/** Contains a comma, an @ and a colon, which must be encoded in a URL. */
const PASSWORD = 'a,b@c:d';
/** A node that does not reply for this time counts as dead. */
const NODE_TIMEOUT_MS = 1500;

/** @param replicas per master; without replicas the cluster starts sooner, but does not survive the loss of a master. */
export async function startRedisCluster({ replicas = 1 } = {}): Promise<TestCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-cluster-'));
  const nodes = await Promise.all(
    Array.from({ length: MASTERS * (1 + replicas) }, (_, index) => startNode(join(directory, String(index)))),
  );
  await assignSlots(nodes.slice(0, MASTERS));
  await meetNodes(nodes);
  await assignReplicas(nodes);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');

  async function onReachableNode<T>(ask: (client: Redis) => Promise<T>): Promise<T> {
    return Promise.any(nodes.map(({ client }) => ask(client)));
  }

  return closeAtEnd<TestCluster>({
    url: `redis-cluster://default:${encodeURIComponent(PASSWORD)}@${hosts}`,
    async masterOf(key) {
      const slot = await onReachableNode((client) => client.cluster('KEYSLOT', key));
      const ranges = (await onReachableNode((client) => client.call('CLUSTER', 'SLOTS'))) as [
        number,
        number,
        [string, number],
      ][];
      const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? [0, 0, ['', 0]];
      return nodes.find((node) => node.port === port) as Node;
    },
    async keys() {
      return (await Promise.all(nodes.map(({ client }) => client.keys('*').catch(() => [])))).flat();
    },
    async close() {
      for (const { client, redis } of nodes) {
        client.disconnect();
        await redis.child.stop('SIGKILL');
      }
      await rm(directory, { recursive: true, force: true });
    },
  });
}

async function startNode(directory: string): Promise<Node> {
  const busPort = await freePort();
  const redis = await startRedis({
    directory,
    port: await freePort(),
    settings: {
      'cluster-enabled': 'yes',
      'cluster-port': busPort,
      'cluster-node-timeout': NODE_TIMEOUT_MS,
      requirepass: PASSWORD,
      masterauth: PASSWORD,
    },
  });
  const limits = { maxRetriesPerRequest: 0, disconnectTimeout: 200 };
  const client = new Redis({ port: redis.port, password: PASSWORD, ...limits });
  client.on('error', () => {});
  return {
    redis,
    busPort,
    client,
    port: redis.port,
    kill: () => redis.child.stop('SIGKILL'),
    freeze: () => void process.kill(redis.child.pid, 'SIGSTOP'),
    thaw: () => void process.kill(redis.child.pid, 'SIGCONT'),
    async untilReplica() {
      await until('a replica follows', async () =>
        (await client.info('replication').catch(() => '')).includes('master_link_status:up'),
      );
    },
  };
}

async function assignSlots(masters: Node[]): Promise<void> {
  const share = Math.ceil(SLOTS / masters.length);
  for (const [index, { client }] of masters.entries()) {
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', index * share, Math.min((index + 1) * share, SLOTS) - 1);
  }
}

async function meetNodes(nodes: Node[]): Promise<void> {
  const [first, ...others] = nodes as [Node, ...Node[]];
  for (const { port, busPort } of others) await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  for (const { client } of nodes)
    await until('a node knows all others', async () => {
      const lines = ((await client.cluster('NODES')) as string).trim().split('\n');
      return lines.length === nodes.length && lines.every((line) => line.includes(' connected'));
    });
}

async function assignReplicas(nodes: Node[]): Promise<void> {
  const masters = nodes.slice(0, MASTERS);
  const replicas = nodes.slice(MASTERS);
  for (const [index, { client }] of replicas.entries()) {
    const master = masters[index % MASTERS] as Node;
    await client.call('CLUSTER', 'REPLICATE', (await master.client.call('CLUSTER', 'MYID')) as string);
  }
  for (const replica of replicas) await replica.untilReplica();
  for (const { client } of nodes)
    await until('the cluster is complete', async () => {
      const isOk = (await client.call('CLUSTER', 'INFO')) as string;
      const slots = (await client.cluster('SLOTS')) as unknown[][];
      return (
        isOk.includes('cluster_state:ok') && slots.every((range) => range.length === 3 + nodes.length / MASTERS - 1)
      );
    });
}
