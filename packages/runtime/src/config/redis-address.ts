/** The address of a Redis with several nodes: a Redis Cluster, or a primary that Sentinels watch. */
interface RedisAddress {
  kind: 'cluster' | 'sentinel';
  /** Nodes of the cluster, or Sentinels, that know the others; one available node is enough. */
  seeds: { host: string; port: number }[];
  username: string;
  password: string;
  tls: boolean;
  /** By which the Sentinels know the primary; empty for a cluster. */
  primary: string;
}

/** How the addresses begin that `parseRedisAddress` reads. */
export const SEVERAL_NODES = /^redis(?<tls>s?)-(?<kind>cluster|sentinel):\/\//;
const ADDRESS = new RegExp(
  `${SEVERAL_NODES.source}(?:(?<credentials>[^@/,]*)@)?(?<hosts>[^@/?#]+)(?:/(?<primary>[\\w.-]*))?$`,
);
const PORTS = { cluster: 6379, sentinel: 26379 };

/**
 * Reads `redis-cluster://[user:password@]host:port,host:port` and `redis-sentinel://[user:password@]host:port,host:port/<primary>`, with
 * `rediss-` for TLS. User and password are percent-encoded; the port defaults to 6379, of a Sentinel to 26379.
 *
 * @throws {Error} when the address is invalid. The message does not quote the address, which may contain a password.
 */
export function parseRedisAddress(address: string): RedisAddress {
  const { tls, kind, credentials = ':', hosts, primary = '' } = ADDRESS.exec(address)?.groups ?? {};
  if (!hosts || (kind !== 'cluster' && kind !== 'sentinel')) throw new Error('not the address of several nodes');
  if ((kind === 'sentinel') !== (primary !== ''))
    throw new Error('a Sentinel needs the name of the primary, a cluster has none');
  const [username = '', password = ''] = credentials.split(/:(.*)/s, 2).map(decodeURIComponent);
  const seeds = hosts.split(',').map((text) => parseSeed(text, PORTS[kind]));
  return { kind, seeds, username, password, tls: tls === 's', primary };
}

function parseSeed(text: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = URL.parse(`redis://${text}`) ?? {};
  if (!hostname) throw new Error('not a host and port');
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || defaultPort) };
}
