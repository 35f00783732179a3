import { CLUSTER_SCHEME, parseClusterAddress } from '@orders/runtime';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';

/** One Redis (or Valkey), or a cluster of them. */
export type RedisClient = Redis | Cluster;

/** What holds for each connection, to one Redis as to a node of a cluster; times in milliseconds. */
type Limits = Pick<RedisOptions, 'maxRetriesPerRequest' | 'commandTimeout' | 'socketTimeout' | 'connectTimeout'>;

const EVERY = { keepAlive: 10_000, disconnectTimeout: 200 };
const CLUSTER_RETRY_MS = 100;
/** A master that fell silent closes no connection; that another has taken its place is found out by asking, so often. */
const SLOTS_REFRESH_MS = 5000;

const retryStrategy = (times: number) => Math.min(times * 100, 1000);

/** Whether a queue address means Redis or Valkey, alone or a cluster; otherwise it is BullMQ's Postgres backend. */
export function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url) || CLUSTER_SCHEME.test(url);
}

/**
 * A Redis connection that fails fast: nothing is queued up while Redis is away. When a command is not answered in `timeoutMs` milliseconds,
 * all that wait fail, and the connection is given up and made anew; until Redis answers on the new one, every command fails at once.
 *
 * @param retry in a cluster, try a command of a master that is away or moved again within its time: for what nobody waits for.
 */
export function openFailFastRedis(
  url: string,
  { timeoutMs, retry = false }: { timeoutMs: number; retry?: boolean },
): RedisClient {
  const limits: Limits = {
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    connectTimeout: 5000,
  };
  const retryMs = retry ? CLUSTER_RETRY_MS : 0;
  const redis = CLUSTER_SCHEME.test(url)
    ? openCluster(url, limits, {
        enableOfflineQueue: false,
        retryDelayOnFailover: retryMs,
        retryDelayOnClusterDown: retryMs,
        retryDelayOnTryAgain: CLUSTER_RETRY_MS,
      })
    : new Redis(url, { ...EVERY, ...limits, enableOfflineQueue: false, retryStrategy });
  // A command for a node that is being connected to fails at once; the one that finds it unconnected would wait for it.
  if (redis instanceof Cluster)
    redis.on('+node', (added: Redis) => {
      if (redis.status === 'ready') added.connect().catch(() => {});
    });
  return ignoreConnectionErrors(redis);
}

/** A Redis connection for blocking reads: it waits for Redis as long as it takes. */
export function openBlockingRedis(url: string): RedisClient {
  const limits: Limits = {
    maxRetriesPerRequest: null,
    // Longer than BullMQ's longest blocking read, 10 s. Without it a Redis whose host is gone would be waited for as long as TCP does.
    socketTimeout: 15_000,
  };
  const redis = CLUSTER_SCHEME.test(url)
    ? openCluster(url, limits, { maxRedirections: Number.POSITIVE_INFINITY })
    : new Redis(url, { ...EVERY, ...limits, retryStrategy });
  return ignoreConnectionErrors(redis);
}

function openCluster(url: string, limits: Limits, options: ClusterOptions): Cluster {
  const { seeds, username, password, tls } = parseClusterAddress(url);
  const cluster = new Cluster(seeds, {
    ...options,
    clusterRetryStrategy: retryStrategy,
    redisOptions: {
      ...EVERY,
      ...limits,
      ...(username && { username }),
      ...(password && { password }),
      ...(tls && { tls: {} }),
    },
    // A certificate names the host, not what it resolves to.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  });
  // ioredis' own interval goes on for ever when it is ended in the middle of a refresh.
  const refreshing = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, SLOTS_REFRESH_MS).unref();
  return cluster.once('end', () => clearInterval(refreshing));
}

/** With a listener, the news that Redis is gone is not the end of the process. */
function ignoreConnectionErrors<Client extends RedisClient>(redis: Client): Client {
  redis.on('error', () => {});
  return redis;
}
