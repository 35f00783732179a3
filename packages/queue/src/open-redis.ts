import { parseRedisAddress, SEVERAL_NODES } from '@orders/runtime/config/redis-address.ts';
import {
  Cluster,
  type ClusterOptions,
  Redis,
  type RedisOptions,
  type SentinelConnectionOptions,
  SentinelConnector,
} from 'ioredis';

/** A single Redis (or Valkey), also the primary that Sentinels name, or a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** Limits of each connection, to a single Redis or to a cluster node; times in milliseconds. */
type Limits = Pick<RedisOptions, 'maxRetriesPerRequest' | 'commandTimeout' | 'socketTimeout' | 'connectTimeout'>;

const COMMON_OPTIONS = { keepAlive: 10_000, disconnectTimeout: 200 };
const CLUSTER_RETRY_MS = 100;
const SENTINEL_TIMEOUT_MS = 2000;
/** A hung master closes no connection, so a failover is only found by asking for the slots this often. */
const SLOTS_REFRESH_MS = 5000;

const retryStrategy = (times: number) => Math.min(times * 100, 1000);

/** Whether a queue URL is of Redis or Valkey, with one or several nodes; otherwise it is of BullMQ's Postgres backend. */
export function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url) || SEVERAL_NODES.test(url);
}

/**
 * A Redis connection that fails fast: no command is queued while Redis is unavailable. If a command gets no reply within `timeoutMs`
 * milliseconds, all waiting commands fail and the client reconnects; until it is connected, every command fails immediately.
 *
 * @param retry in a cluster, retry commands within the timeout when their master is unavailable or has moved. For background work only.
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
  const redis = open(url, limits, {
    single: { enableOfflineQueue: false },
    cluster: {
      enableOfflineQueue: false,
      retryDelayOnFailover: retryMs,
      retryDelayOnClusterDown: retryMs,
      retryDelayOnTryAgain: CLUSTER_RETRY_MS,
    },
  });
  // Connect to new nodes early: the first command to an unconnected node would wait for the connection instead of failing fast.
  if (redis instanceof Cluster)
    redis.on('+node', (added: Redis) => {
      if (redis.status === 'ready') added.connect().catch(() => {});
    });
  return ignoreConnectionErrors(redis);
}

/** A Redis connection for blocking reads: commands wait for Redis without a limit. */
export function openBlockingRedis(url: string): RedisClient {
  const limits: Limits = {
    maxRetriesPerRequest: null,
    // More than BullMQ's longest blocking read, 10 s. Without it, a dead host is only noticed after the TCP timeout.
    socketTimeout: 15_000,
  };
  const cluster = { maxRedirections: Number.POSITIVE_INFINITY };
  return ignoreConnectionErrors(open(url, limits, { single: {}, cluster }));
}

function open(
  url: string,
  limits: Limits,
  { single, cluster }: { single: Pick<RedisOptions, 'enableOfflineQueue'>; cluster: ClusterOptions },
): RedisClient {
  const options = { ...COMMON_OPTIONS, ...limits };
  if (!SEVERAL_NODES.test(url)) return new Redis(url, { ...options, ...single, retryStrategy });
  const { kind, seeds, username, password, tls, primary } = parseRedisAddress(url);
  const access = { ...(username && { username }), ...(password && { password }), ...(tls && { tls: {} }) };
  // TLS certificates name the host, so it must not be replaced by its IP address.
  const byName: ClusterOptions = tls ? { dnsLookup: (host, done) => done(null, host) } : {};
  if (kind === 'cluster') return openCluster(seeds, { ...options, ...access }, { ...cluster, ...byName });
  return new Redis({
    ...options,
    ...single,
    ...access,
    retryStrategy,
    sentinels: seeds,
    name: primary,
    // The same as those of Redis; ioredis goes on with Sentinels that take no password.
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelRetryStrategy: retryStrategy,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    // A hung primary closes no connection; the Sentinels tell when it was replaced.
    failoverDetector: true,
    Connector: ReconnectingConnector,
  });
}

class ReconnectingConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  /**
   * Begins by ending the subscription of the connection before. If that told of a failover while the Sentinels are asked for the primary, ioredis
   * would take the attempt for closed, and never connect again.
   */
  override connect(...parameters: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(...parameters);
  }
}

function openCluster(
  seeds: { host: string; port: number }[],
  redisOptions: Limits & Pick<RedisOptions, 'username' | 'password' | 'tls'>,
  options: ClusterOptions,
): Cluster {
  const cluster = new Cluster(seeds, { ...options, clusterRetryStrategy: retryStrategy, redisOptions });
  // The interval of ioredis itself never stops if the client is closed during a refresh.
  const refreshing = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, SLOTS_REFRESH_MS).unref();
  return cluster.once('end', () => clearInterval(refreshing));
}

/** Without an error listener, a lost connection would end the process. */
function ignoreConnectionErrors<Client extends RedisClient>(redis: Client): Client {
  redis.on('error', () => {});
  return redis;
}
